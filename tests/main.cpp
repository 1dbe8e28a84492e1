// The one main of every test program, compiled once.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <iostream>

#include "skip.h"

namespace {

constexpr int failed_code = 1, skipped_code = 77;  // CTest knows the second one: tests/CMakeLists.txt
bool skipped = false;

}  // namespace

void stein::test::skip(const std::string& reason) {
  skipped = true;
  std::cerr << "skipped: " << reason << " | " << Catch::getResultCapture().getCurrentTestName() << std::endl;
  throw Catch::TestFailureException();  // with no failed assertion it ends the case and no more
}

// NOLINTNEXTLINE(bugprone-exception-escape): what Catch2 throws before any test ends the program anyhow
int main(int argument_count, char** arguments) {
  // Catch2 returns how many assertions failed: a number that may be the code for skipped.
  if (Catch::Session().run(argument_count, arguments) != 0) return failed_code;
  return skipped ? skipped_code : 0;
}
