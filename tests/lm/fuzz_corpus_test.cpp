// The corpus of the fuzzers of lm/ is read again, and every kind of input is given the others'.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "fuzz/corpus.h"
#include "fuzz/lm/feed_file.h"

namespace stein {
namespace {

TEST_CASE("inputs of the corpus that are called good are read, and the others are refused", "[lm][fuzz]") {
  for (const std::string& kind : test::file_kinds()) {
    const std::map<std::string, std::string> inputs = test::corpus("lm", kind);
    CHECK(inputs.size() >= 5);
    for (const auto& [name, input] : inputs) {
      CAPTURE(kind, name);
      bool is_read = false;
      CHECK_NOTHROW(is_read = test::feed_file(kind, input));
      CHECK(is_read == name.starts_with("good"));
    }
  }
}

TEST_CASE("no input of the corpus breaks the readers of another kind", "[lm][fuzz]") {
  for (const std::string& origin : test::file_kinds())
    for (const auto& [name, input] : test::corpus("lm", origin))
      for (const std::string& kind : test::file_kinds()) {
        CAPTURE(origin, name, kind);
        CHECK_NOTHROW(test::feed_file(kind, input));
      }
}

}  // namespace
}  // namespace stein
