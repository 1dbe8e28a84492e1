// The tokens of a text by number.
#pragma once

#include <stein/core/snapshot.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stein::lm {

/// What a token is.
enum class TokenUnit {
  words,       ///< what stands between spaces; the end of a line is a word of its own
  bytes,       ///< single bytes, whatever they mean
  characters,  ///< Unicode characters of UTF-8 text
};

constexpr std::string_view unit_name(TokenUnit unit) {
  return unit == TokenUnit::words ? "words" : unit == TokenUnit::bytes ? "bytes" : "characters";
}

/// Stands at the end of every line of a text of words.
inline constexpr std::string_view end_of_sentence = "<eos>";
/// Stands for every word that is not in the vocabulary, where a vocabulary has it.
inline constexpr std::string_view unknown_word = "<unk>";

/// Distinct tokens, numbered 0 … size − 1 in the order in which they were given.
class Vocabulary {
 public:
  /// Throws Error(data) for no token, and for one that is there twice.
  Vocabulary(TokenUnit unit, std::vector<std::string> tokens);

  TokenUnit unit() const { return unit_; }
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  /// The number of a token, or nothing.
  std::optional<std::int32_t> find(std::string_view token) const;
  /// Throws Error(usage) unless 0 ≤ number < size.
  const std::string& token(std::int32_t number) const;
  /// The number of `unknown_word`, or nothing.
  std::optional<std::int32_t> unknown() const { return find(unknown_word); }

  /// One token a line behind a first line with the unit; bytes that are not printable are escaped.
  std::string text() const;
  /// Reads what `text` wrote. Throws Error(data) naming `source` and what is wrong.
  static Vocabulary parse(std::string_view text, std::string_view source);

  void save(Snapshot& snapshot) const { snapshot.put_text("text", text()); }
  /// What `save` wrote. Throws Error(data) if it is not there or damaged.
  static Vocabulary saved_in(const Snapshot& snapshot);

  bool operator==(const Vocabulary& other) const { return unit_ == other.unit_ && tokens_ == other.tokens_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  TokenUnit unit_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

/// The vocabulary of a trained network of words, from what its checkpoints say of its inputs (TrainedNetwork::meaning).
/// Throws Error(data) if it is not there or damaged.
Vocabulary saved_vocabulary(const Snapshot& meaning);

}  // namespace stein::lm
