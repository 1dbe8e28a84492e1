// What is checked of a room's corpus, whatever its kinds of inputs are.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/corpus.h"

namespace stein::test {

using FeedKind = std::function<bool(std::string_view kind, std::string_view input)>;

/// Inputs that are called good are read, and the others are refused.
inline void check_good_inputs(const std::string& room, const std::vector<std::string>& kinds, const FeedKind& feed) {
  for (const std::string& kind : kinds) {
    const std::map<std::string, std::string> inputs = corpus(room, kind);
    CHECK(inputs.size() >= 5);
    for (const auto& [name, input] : inputs) {
      CAPTURE(kind, name);
      bool is_read = false;
      CHECK_NOTHROW(is_read = feed(kind, input));
      CHECK(is_read == name.starts_with("good"));
    }
  }
}

/// No input of the corpus breaks the readers of another kind.
inline void check_foreign_inputs(const std::string& room, const std::vector<std::string>& kinds, const FeedKind& feed) {
  for (const std::string& origin : kinds)
    for (const auto& [name, input] : corpus(room, origin))
      for (const std::string& kind : kinds) {
        CAPTURE(origin, name, kind);
        CHECK_NOTHROW(feed(kind, input));
      }
}

}  // namespace stein::test
