#include <stein/core/log.h>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include <stein/core/error.h>
#include <stein/core/escaped_text.h>

namespace stein {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::sink_ptr make_terminal_sink() {
  if (::isatty(STDERR_FILENO) == 0) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    sink->set_pattern("stein %l: %v");
    return sink;
  }
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  sink->set_pattern("\r\x1b[Kstein %^%l%$: %v");  // first wipe the progress bar, which its next update draws again
  return sink;
}

struct Log {
  std::mutex mutex;
  spdlog::sink_ptr terminal = make_terminal_sink();
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
  std::shared_ptr<spdlog::sinks::dist_sink_mt> sinks = std::make_shared<spdlog::sinks::dist_sink_mt>();
  spdlog::logger logger{"stein", sinks};

  Log() { sinks->add_sink(terminal); }
};

Log& the_log() {
  static Log log;
  return log;
}

void drop_file(Log& log) {
  if (!log.file) return;
  log.sinks->remove_sink(log.file);
  log.file.reset();
}

}  // namespace

void set_log_level(LogLevel minimum) {
  the_log().terminal->set_level(spdlog_level(minimum));
}

void open_log_file(const std::filesystem::path& path) {
  Log& log = the_log();
  const std::scoped_lock lock(log.mutex);
  drop_file(log);
  try {
    log.file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
  } catch (const spdlog::spdlog_ex& error) {
    fail(ErrorKind::io, "cannot open the log '{}': {}", path.string(), error.what());
  }
  log.file->set_pattern("%Y-%m-%dT%H:%M:%S%z %l: %v");
  log.sinks->add_sink(log.file);
}

void close_log_file() {
  Log& log = the_log();
  const std::scoped_lock lock(log.mutex);
  drop_file(log);
}

void log_message(LogLevel level, std::string_view message) {
  Log& log = the_log();
  log.logger.log(spdlog_level(level), without_controls(message));
  log.logger.flush();
}

}  // namespace stein
