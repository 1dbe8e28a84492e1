// What a failing test says of the program that it ran.
#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

TEST_CASE("a test whose program failed names the signal or the exit code, and shows its standard error", "[cli]") {
  const TemporaryDirectory folder;
  const Outcome test = Program(folder.path(), {}, {}, STEIN_TEST_THAT_FAILS).wait();
  CHECK(test.code == 1);
  CHECK_THAT(test.out, Contains("was ended by SIGABRT; standard error:\n  last words"));
  CHECK_THAT(test.out, Contains("was ended by SIGSEGV; standard error:\n  dying words"));
  CHECK_THAT(test.out, Contains("ended with exit code 3; standard error:\n  wrong words"));
}
