// Lines of a text file one after the other, plain or gzip-compressed, in constant memory.
#pragma once

#include <fmt/format.h>
#include <stein/core/byte_reader.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace stein {

/// Where a reader stands in the text of a file: what a checkpoint stores and `LineReader::skip_to` takes.
struct LinePosition {
  std::uint64_t bytes = 0;  ///< bytes of decompressed text before the next line, line ends included
  std::uint64_t lines = 0;  ///< lines before the next line

  bool operator==(const LinePosition&) const = default;
};

/// A streaming reader of text lines from a plain or a gzip-compressed file; a file is gzip if it begins with gzip's
/// two bytes 1f 8b, whatever its name.
///
/// A line ends with "\n" or "\r\n", or with the file; the line end is not part of the line. Empty lines are lines, and
/// a line may hold any byte, NUL included. A UTF-8 byte order mark at the start of the file is dropped. Several gzip
/// members are read as one text. Memory is constant: a buffer of 64 KiB that grows for a longer line only, up to the
/// longest line that is allowed.
class LineReader {
 public:
  static constexpr std::size_t default_longest_line = std::size_t{16} << 20;

  /// Opens `path`; lines longer than `longest_line` bytes, without their line end, are refused.
  /// @throws Error(data) if the file does not exist, or is named `.gz` and is no gzip file; Error(io) if it is a folder
  ///         or the system refuses to read it; Error(usage) unless `longest_line` is from 1 to 2^40
  explicit LineReader(const std::filesystem::path& path, std::size_t longest_line = default_longest_line);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// Gives the next line, valid until the next call; false at the end of the file.
  /// @throws Error(data) for a line that is too long, or a gzip file that is truncated, damaged or followed by anything
  ///         but gzip; Error(io). A checksum stands behind the text it covers, so that lines may have been given before
  ///         the damage in them is found; a file is sound once `next` has returned false.
  bool next(std::string_view& line);

  /// Number of the line that `next` gave last, counted from 1; 0 before the first.
  std::uint64_t line_number() const { return position_.lines; }

  /// Position behind the line that `next` gave last.
  LinePosition position() const { return position_; }

  /// Moves to a position that a reader of the same text gave, so that `next` gives the line behind it; {} is the start.
  /// In a plain file this is a seek. A gzip file is decompressed up to there, from its start if the reader has read
  /// further than that. After an error only another `skip_to` brings the reader back.
  /// @throws Error(data) if the text ends before the position or no line begins there, as when the file was replaced;
  ///         Error(usage) for a position with more lines than bytes; Error(io) for a plain file that cannot seek (a
  ///         pipe)
  void skip_to(const LinePosition& position);

  /// Bytes of the file read so far, compressed ones if it is gzip; ahead of the line given last by at most a buffer.
  std::uint64_t file_bytes_read() const;

  /// Bytes of the file when it was opened; 0 for what has no size, such as a pipe.
  std::uint64_t file_bytes() const;

  bool is_gzip() const { return bytes_.is_gzip(); }

  /// Bytes of the buffer that lines lie in.
  std::size_t buffer_bytes() const { return buffer_.size(); }

  const std::filesystem::path& path() const;

  /// Throws Error(data) "'FILE', line N: " and a formatted sentence; N is the line that `next` gave last, or 1 before
  /// it.
  template <class... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail_at(std::max<std::uint64_t>(line_number(), 1), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  [[noreturn]] void fail_at(std::uint64_t line, std::string_view sentence) const;
  [[noreturn]] void fail_long_line() const;
  void drop_byte_order_mark();
  bool fill();
  std::string_view take(std::size_t length, std::size_t line_end);

  ByteReader bytes_;
  std::size_t longest_line_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< text that was read and not given yet: buffer_[begin_, end_)
  LinePosition position_;
};

}  // namespace stein
