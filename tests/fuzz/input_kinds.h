// Kinds of inputs of one room, and how each is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"

namespace stein::test {

/// A kind of input, and the ways in which it is read.
struct InputKind {
  std::string_view name;
  std::vector<Feed> feeds;
};

/// The names of kinds, in their order.
std::vector<std::string> names_of(const std::vector<InputKind>& kinds);

/// Reads `text` in every way of the kind that is called `name`.
/// @return whether it was read to its end in every way; an error of the kind `data` that names its file ends a way
/// @throws std::logic_error where a reader breaks what its header promises, or an error is no line of UTF-8 that names
///         the file; whatever else a reader throws
bool feed(const std::vector<InputKind>& kinds, std::string_view name, std::string_view text);

}  // namespace stein::test
