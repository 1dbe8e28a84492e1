// One way for the fuzzers, and for the test of their corpus, to give what strangers may have written to the readers of
// lm/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stein::test {

/// The kinds of inputs: each has a folder of that name in tests/fuzz/lm/corpus.
std::vector<std::string> file_kinds();

/// Reads `input` as the kind says, in every way that options offer. Readers of files find it in files of a temporary
/// folder; where they read several, the input has them one behind the other, parted by lines "-----".
/// @return whether it was read to its end in every way; an error of the kind `data` that names its file ends a way
/// @throws std::logic_error where a reader breaks what its header promises; whatever else a reader throws
bool feed_file(std::string_view kind, std::string_view input);

}  // namespace stein::test
