// Text of strangers as a line that a person can read.
#pragma once

#include <string>
#include <string_view>

namespace stein {

/// `raw` with `\n`, `\r`, `\t`, `\\`, and `\xNN` for other bytes that are neither printable ASCII nor part of valid
/// UTF-8.
std::string escaped(std::string_view raw);
/// `raw` with `\xNN` for characters that would steer a terminal: all control characters but line ends and tabs.
std::string without_controls(std::string_view raw);
/// What `escaped` made of it. Throws Error(data) for an escape that it does not make.
std::string unescaped(std::string_view text);

}  // namespace stein
