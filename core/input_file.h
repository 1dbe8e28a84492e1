// A file open for reading, and the sentences that say why a file cannot be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace stein {

/// An open file that is read from its beginning, or from where `seek` moved to.
class InputFile {
 public:
  /// Opens `path`. @throws Error(data) if it does not exist; Error(io) if it is a folder or the system refuses to open
  /// it
  explicit InputFile(std::filesystem::path path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Fills `buffer` and returns the number of bytes read, which is less than its size only at the end of the file.
  /// @throws Error(io)
  std::size_t read(std::span<std::byte> buffer);

  /// Makes the next read begin at byte `offset`. @throws Error(io) for what cannot seek, such as a pipe
  void seek(std::uint64_t offset);

  /// Byte at which the next read begins.
  std::uint64_t offset() const { return offset_; }

  /// Bytes of the file when it was opened; 0 for what has no size, such as a pipe.
  std::uint64_t size() const { return size_; }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace stein
