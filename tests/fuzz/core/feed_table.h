// One way for the fuzzers, and for the test of their corpus, to give what strangers may have written to the readers of
// tables and arrays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stein::test {

/// The kinds of inputs: each has a folder of that name in tests/fuzz/core/corpus.
std::vector<std::string> table_kinds();

/// Reads `input` as the kind says, in every way that options offer, from a file of a temporary folder
/// (fuzz/input_kinds.h).
bool feed_table(std::string_view kind, std::string_view input);

}  // namespace stein::test
