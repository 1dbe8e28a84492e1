// Kinds and exit codes.
#include <stein/core/error.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;

TEST_CASE("every kind of error has its exit code", "[core]") {
  CHECK(exit_code(ErrorKind::usage) == 2);
  CHECK(exit_code(ErrorKind::data) == 3);
  CHECK(exit_code(ErrorKind::numeric) == 4);
  CHECK(exit_code(ErrorKind::io) == 1);
}

TEST_CASE("a check that fails says what was expected and found", "[core]") {
  const int batch = 0;
  CHECK_ERROR([&] { STEIN_CHECK(batch > 0, "batch must be at least 1, got {}", batch); }(), usage, "at least 1, got 0");
}
