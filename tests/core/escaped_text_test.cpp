#include <stein/core/escaped_text.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

namespace stein {
namespace {

using namespace std::string_literals;

TEST_CASE("text of strangers is shown as one line of UTF-8, and read back", "[core][escaped]") {
  for (const auto& [text, shown] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", ""},
           {"a b", "a b"},
           {"größe 字", "größe 字"},
           {"a\nb\r\tc\\", "a\\nb\\r\\tc\\\\"},
           {"\x1b[31m\0\x7f"s, "\\x1b[31m\\x00\\x7f"},
           {"g\xf6", "g\\xf6"},                         // Latin 1
           {"gr\xc3\xb6\xff", "gr\\xc3\\xb6\\xff"}}) {  // not UTF-8 as a whole
    CHECK(escaped(text) == shown);
    CHECK(unescaped(shown) == text);
  }
}

TEST_CASE("text of strangers cannot steer a terminal, and keeps its lines", "[core][escaped]") {
  CHECK(without_controls("größe\t1\n\x1b]0;title\a\r\x7f\\"s) == "größe\t1\n\\x1b]0;title\\x07\\x0d\\x7f\\");
  CHECK(without_controls("").empty());
}

TEST_CASE("an escape that is none is refused", "[core][escaped]") {
  for (const char* text : {"\\", "\\q", "\\x1", "\\xg1", "\\x+1"})
    CHECK_ERROR(unescaped(text), data, "no escaped text");
}

}  // namespace
}  // namespace stein
