// A test that fails because the program which it runs aborts; program_test.cpp reads what it says.
#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;

TEST_CASE("a program that aborts ends well") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"-c", "echo last words >&2; kill -ABRT $$"});
  CHECK(outcome.out.empty());  // an assertion that passes takes nothing from what the next one says
  CHECK(outcome.code == 0);
}

TEST_CASE("a program that aborts is waited for") {
  const TemporaryDirectory folder;
  Program program(folder.path(), {"-c", "echo dying words >&2; kill -SEGV $$"});
  CHECK(program.wait_until([] { return false; }));
}

TEST_CASE("a program that fails prints JSON") {
  const TemporaryDirectory folder;
  run(folder.path(), {"-c", "echo wrong words >&2; exit 3"}).json();
}
