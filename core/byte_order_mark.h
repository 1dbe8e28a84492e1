// What some editors put before the first line of a text.
#pragma once

#include <string_view>

namespace stein {

/// U+FEFF in UTF-8. It belongs to no line: readers of lines drop it at the start of a text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace stein
