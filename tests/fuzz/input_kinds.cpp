#include "fuzz/input_kinds.h"

#include <stein/core/error.h>

#include <simdjson.h>

#include <algorithm>

#include "fuzz/require.h"

namespace stein::test {
namespace {

/// Whether a terminal may take the letter for a line end or for the beginning of a command.
bool is_control(char letter) {
  return static_cast<unsigned char>(letter) < 0x20;
}

/// Whether the input was read to its end.
bool read(const Feed& feed, const Input& input) {
  try {
    feed(input);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    const std::string_view sentence = error.what();
    require(sentence.find(Input::folder().string()) != std::string_view::npos, "an error names the file");
    require(simdjson::validate_utf8(sentence), "an error is UTF-8");
    require(std::ranges::none_of(sentence, is_control), "an error is a line");
    return false;
  }
}

}  // namespace

std::vector<std::string> names_of(const std::vector<InputKind>& kinds) {
  std::vector<std::string> names;
  for (const InputKind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

bool feed(const std::vector<InputKind>& kinds, std::string_view name, std::string_view text) {
  const auto found = std::ranges::find(kinds, name, &InputKind::name);
  require(found != kinds.end(), "a kind of input");
  const Input input(text);
  bool all = true;
  for (const Feed& each : found->feeds) all = read(each, input) && all;
  return all;
}

}  // namespace stein::test
