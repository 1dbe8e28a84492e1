// Answers to the lines of a pipe, for whoever waits for them.
#pragma once

#include <stein/core/line_stream.h>

#include <cstdio>
#include <string>

namespace stein {

/// Networks are asked of numbers up to this: sums of products of larger ones with weights may leave those of single
/// precision.
inline constexpr float largest_asked_number = 1e15F;

/// Answers pile up while more lines wait to be answered, and are handed on together once none does, so that one who
/// asks and waits gets an answer at once, and one who asks much gets many in a piece.
class LineAnswers {
 public:
  /// @param out  stays open and is not owned
  explicit LineAnswers(std::FILE* out) : out_(out) {}

  /// Calls append(text), which puts the answer to the last line of `lines` behind `text`, its line end with it. Where
  /// it throws, the answers to lines before are handed on first. @throws Error(io)
  template <class Append>
  void add(const LineStream& lines, const Append& append) {
    try {
      append(text_);
    } catch (...) {
      hand_on();
      throw;
    }
    if (!lines.ready() || text_.size() > most_bytes) hand_on();
  }
  /// The same at the end of all lines. @throws Error(io)
  template <class Append>
  void finish(const Append& append) {
    append(text_);
    hand_on();
  }

 private:
  void hand_on();

  static constexpr std::size_t most_bytes = std::size_t{1} << 16;

  std::FILE* out_;
  std::string text_;
};

}  // namespace stein
