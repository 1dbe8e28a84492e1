// The bytes of a file one after the other, plain or gzip-compressed, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace stein {

/// A stream of the bytes of a file, decompressed if the file is gzip: if it begins with gzip's two bytes 1f 8b,
/// whatever its name. Several gzip members are read as one text.
class ByteReader {
 public:
  /// Opens `path`.
  /// @throws Error(data) if the file does not exist, or is named `.gz` and is no gzip file; Error(io) if it is a folder
  ///         or the system refuses to read it
  explicit ByteReader(const std::filesystem::path& path);
  ~ByteReader();
  ByteReader(ByteReader&&) noexcept;
  ByteReader& operator=(ByteReader&&) noexcept;

  /// Reads into `buffer`, which has room for at least one byte: at least one byte, or none at the end.
  /// @return number of bytes read
  /// @throws Error(data) for a gzip file that is truncated, damaged or followed by anything but gzip; Error(io)
  std::size_t read(std::span<char> buffer);

  /// Makes the next read begin at byte `offset` of the (decompressed) text; false if the text ends before. In a plain
  /// file this is a seek. A gzip file is decompressed up to there, from its start if more than that was read.
  /// @param scratch  is overwritten; has room for at least one byte
  /// @throws as read; Error(io) for a plain file that cannot seek (a pipe)
  bool seek(std::uint64_t offset, std::span<char> scratch);

  bool is_gzip() const;
  /// Bytes of the file read so far, compressed ones if it is gzip.
  std::uint64_t file_bytes_read() const;
  /// Bytes of the file when it was opened; 0 for what has no size, such as a pipe.
  std::uint64_t file_bytes() const;
  const std::filesystem::path& path() const;

 private:
  class Source;

  std::unique_ptr<Source> source_;
};

}  // namespace stein
