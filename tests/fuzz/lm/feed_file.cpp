#include "fuzz/lm/feed_file.h"

#include <stein/core/error.h>

#include <simdjson.h>

#include <algorithm>

#include "fuzz/lm/caption_feeds.h"
#include "fuzz/lm/scene_feeds.h"
#include "fuzz/lm/text_feeds.h"
#include "fuzz/require.h"

namespace stein::test {
namespace {

/// A kind of input, and the ways in which it is read.
struct Kind {
  std::string_view name;
  std::vector<Feed> feeds;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"coco-captions", {read_coco}},
      {"flickr-captions", {read_flickr}},
      {"image-ids", {read_ids_of_lines, read_ids_of_json}},
      {"karpathy-captions", {read_karpathy}},
      {"npy-features", {read_npy_features}},
      {"own-text", {read_words, read_bytes, read_characters}},
      {"safetensors-features", {read_safetensors_features}},
      {"scene-captions", {read_scene_captions}},
      {"sentences", {read_sentences, read_sentences_as_kim, read_sentences_as_kim_with_case}},
      {"vocabulary", {read_vocabulary, read_token}},
      {"word-vectors", {read_word_vectors_of_lines}},
      {"word-vectors-binary", {read_binary_word_vectors}},
  };
  return all;
}

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
    require(sentence.find(input.folder().string()) != std::string_view::npos, "an error names the file");
    require(simdjson::validate_utf8(sentence), "an error is UTF-8");
    require(std::ranges::none_of(sentence, is_control), "an error is a line");
    return false;
  }
}

}  // namespace

std::vector<std::string> file_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.emplace_back(kind.name);
  return names;
}

bool feed_file(std::string_view kind, std::string_view text) {
  const auto found = std::ranges::find(kinds(), kind, &Kind::name);
  require(found != kinds().end(), "a kind of input");
  const Input input(text);
  bool all = true;
  for (const Feed& feed : found->feeds) all = read(feed, input) && all;
  return all;
}

}  // namespace stein::test
