// The corpus of the fuzzers of lm/ is read again, and every kind of input is given the others'.
#include "fuzz/corpus_checks.h"
#include "fuzz/lm/feed_file.h"

namespace stein {
namespace {

TEST_CASE("inputs of the corpus that are called good are read, and the others are refused", "[lm][fuzz]") {
  test::check_good_inputs("lm", test::file_kinds(), test::feed_file);
}

TEST_CASE("no input of the corpus breaks the readers of another kind", "[lm][fuzz]") {
  test::check_foreign_inputs("lm", test::file_kinds(), test::feed_file);
}

}  // namespace
}  // namespace stein
