// Lets tests written for Catch2 2 (Debian 12) compile with Catch2 3 (Debian 13, Ubuntu 24.04): only there is this
// folder on the include path.
#pragma once

#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch::Matchers {

/// Version 3 gave this name to ranges and calls the matcher of strings ContainsSubstring.
inline StringContainsMatcher Contains(const char* text, CaseSensitive sensitivity = CaseSensitive::Yes) {
  return ContainsSubstring(text, sensitivity);
}
inline StringContainsMatcher Contains(const std::string& text, CaseSensitive sensitivity = CaseSensitive::Yes) {
  return ContainsSubstring(text, sensitivity);
}

}  // namespace Catch::Matchers
