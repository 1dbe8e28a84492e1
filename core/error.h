// What every part of Stein throws when something outside it is wrong: a sentence, and the kind that decides the exit
// code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace stein {

/// What went wrong, and so with which code the program ends (see `exit_code`).
enum class ErrorKind {
  usage,    ///< the caller asked for something that cannot be: unknown name, value out of range, wrong shape
  data,     ///< a file is missing, damaged, or not what it says it is
  numeric,  ///< a computation left the finite numbers
  io,       ///< the system refused to read or write
};

/// An error with a sentence that says what was expected, what was found, and where.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// Exit code of the program for an error of `kind`: 2 usage, 3 data, 4 numeric, 1 io.
int exit_code(ErrorKind kind) noexcept;

/// Throws `Error(kind)` with a formatted sentence.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace stein

/// Throws `stein::Error(usage)` with a formatted sentence unless `condition` holds. For public entry points.
#define STEIN_CHECK(condition, ...)                          \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::stein::fail(::stein::ErrorKind::usage, __VA_ARGS__); \
  } while (false)
