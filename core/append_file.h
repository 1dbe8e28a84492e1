// A file that only grows: decision logs, metrics, events. Its length is known, so that a resumed run can cut it back to
// a checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace stein {

/// Appends to a file through a buffer of its own; errors of the system are never lost. Not for use by two threads at
/// once.
class AppendFile {
 public:
  /// Opens `path` at its end, making it if need be. @throws Error(io)
  explicit AppendFile(std::filesystem::path path);
  /// Flushes; a failure here is only logged, so call `flush` or `sync` where it matters.
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// @throws Error(io), for instance when the disk is full
  void append(std::string_view bytes);
  /// Appends `line` and a newline.
  void append_line(std::string_view line);
  /// Hands everything to the system, so that other programs see it. @throws Error(io)
  void flush();
  /// Flushes, and waits until the disk has it. @throws Error(io)
  void sync();
  /// Length of the file once flushed [bytes]: what a checkpoint stores and `truncate_file` takes.
  std::uint64_t tell() const noexcept { return flushed_ + buffer_.size(); }

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t flushed_ = 0;
  std::string buffer_;
};

/// Cuts `path` to its first `bytes` bytes; a missing file counts as empty.
/// @throws Error(data) if the file is shorter than that, Error(io) if the system refuses
void truncate_file(const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace stein
