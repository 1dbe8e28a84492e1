// Answers to the lines of a pipe, for whoever waits for them.
#pragma once

#include <stein/core/line_stream.h>

#include <cstdio>
#include <string>

namespace stein {

/// Answers pile up while more lines wait to be answered, and are handed on together once none does, so that one who
/// asks and waits gets an answer at once, and one who asks much gets many in a piece.
class LineAnswers {
 public:
  /// @param out  stays open and is not owned
  explicit LineAnswers(std::FILE* out) : out_(out) {}

  /// Where the next answer is appended, its line end with it.
  std::string& text() { return text_; }
  /// To be called after each answer. @throws Error(io)
  void hand_on_unless_more(const LineStream& lines) {
    if (!lines.ready() || text_.size() > most_bytes) hand_on();
  }
  /// @throws Error(io)
  void hand_on();

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 16;

  std::FILE* out_;
  std::string text_;
};

}  // namespace stein
