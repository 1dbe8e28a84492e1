// Lines of a pipe or a terminal as soon as they are there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <stein/core/stop_token.h>

namespace stein {

/// Reads lines from an open descriptor without waiting for more than is there, so that whoever answers line by line
/// knows when to hand its answers on.
class LineStream {
 public:
  static constexpr std::size_t longest_line = std::size_t{16} << 20;

  /// @param descriptor  stays open and is not owned
  explicit LineStream(int descriptor) : descriptor_(descriptor) {}

  /// Whether a whole line is there already, or the end is known: `next` would not wait.
  bool ready() const;
  /// Gives the next line without its end, valid until the next call; waits for it if need be. False at the end, and
  /// where `stop` asks to stop. What follows the last line end is a line too. A UTF-8 byte order mark at the start is
  /// dropped. @throws Error(data) for a line of more than 16 MiB; Error(io)
  bool next(std::string_view& line, const StopToken& stop);

 private:
  /// Reads once, when something is there. False where asked to stop.
  bool fill(const StopToken& stop);

  int descriptor_;
  bool begun_ = false, ended_ = false;
  std::string buffer_;
  std::size_t begin_ = 0, line_end_ = std::string::npos;  ///< of the next line; npos: not there yet
};

}  // namespace stein
