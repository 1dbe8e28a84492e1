// One way for the fuzz harnesses, and for the test of their corpus, to give text to a format of logs.
#pragma once

#include <string_view>

namespace stein::test {

/// Reads `text` line by line as decisions, and again as contexts, with every set of options that decides how the format
/// called `format` reads. Errors of the kind `data` end the text. Throws std::logic_error where the format breaks what
/// replay/log_format.h promises: an event of the wrong shape, or with a number out of its range.
void feed_log(std::string_view format, std::string_view text);

}  // namespace stein::test
