// The corpus of the fuzzers of core/ is read again, and every kind of input is given the others'.
#include "fuzz/core/feed_table.h"
#include "fuzz/corpus_checks.h"

namespace stein {
namespace {

TEST_CASE("tables and arrays of the corpus that are called good are read, and the others are refused", "[core][fuzz]") {
  test::check_good_inputs("core", test::table_kinds(), test::feed_table);
}

TEST_CASE("no table or array of the corpus breaks the readers of another kind", "[core][fuzz]") {
  test::check_foreign_inputs("core", test::table_kinds(), test::feed_table);
}

}  // namespace
}  // namespace stein
