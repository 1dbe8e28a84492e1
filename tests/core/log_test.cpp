#include <stein/core/log.h>
#include <stein/core/read_file.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

TEST_CASE("the log file of a run takes every message, whatever standard error shows", "[core][log]") {
  const test::TemporaryDirectory folder;
  set_log_level(LogLevel::error);
  open_log_file(folder / "log.txt");
  log_info("{} particles", 20);
  log_warning("with braces {}", "{}");
  log_warning("a column '{}'", "b\x1b[31mRED");
  close_log_file();
  log_info("after the run");
  set_log_level(LogLevel::info);
  const std::string log = read_file(folder / "log.txt");
  CHECK_THAT(log, Catch::Contains("info: 20 particles\n"));
  CHECK_THAT(log, Catch::Contains("warning: with braces {}\n"));
  CHECK_THAT(log, Catch::Contains("warning: a column 'b\\x1b[31mRED'\n"));
  CHECK_THAT(log, !Catch::Contains("after the run"));
}

TEST_CASE("a log that cannot be opened is an io error", "[core][log]") {
  CHECK_ERROR(open_log_file("/proc/stein/log.txt"), io, "/proc/stein/log.txt");
}

}  // namespace
}  // namespace stein
