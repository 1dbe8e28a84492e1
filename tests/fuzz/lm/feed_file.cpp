#include "fuzz/lm/feed_file.h"

#include "fuzz/input_kinds.h"
#include "fuzz/lm/caption_feeds.h"
#include "fuzz/lm/scene_feeds.h"
#include "fuzz/lm/text_feeds.h"

namespace stein::test {
namespace {

const std::vector<InputKind>& kinds() {
  static const std::vector<InputKind> all{
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

}  // namespace

std::vector<std::string> file_kinds() {
  return names_of(kinds());
}

bool feed_file(std::string_view kind, std::string_view input) {
  return feed(kinds(), kind, input);
}

}  // namespace stein::test
