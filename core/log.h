// What the program tells a person: one-line messages on standard error and, once a run has a directory, in its log.txt.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace stein {

enum class LogLevel { info, warning, error };

/// Messages below `minimum` do not appear on standard error; log files take them all.
void set_log_level(LogLevel minimum);

/// From now on every message also goes, with date and time, to the end of `path`, until `close_log_file`.
/// @throws Error(io) if the file cannot be opened
void open_log_file(const std::filesystem::path& path);
void close_log_file();

/// Writes one message. Safe from any thread.
void log_message(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace stein
