// Files that are either there whole or not at all: written beside their place, flushed to the disk, then renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace stein {

/// A file being written under a temporary name in the directory of `path`; nothing appears at `path` before `commit`.
/// Without `commit` the destructor removes what was written.
class AtomicFile {
 public:
  /// Opens the temporary file; behind a link it is that of the file there. @throws Error(io) naming the path and the
  /// reason (no such directory, read-only, …; or it is a device, a pipe or a folder, whose place no file may take)
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends all of `bytes`. @throws Error(io), for instance when the disk is full
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  /// Flushes to the disk, renames to the final path (replacing what was there) and flushes the directory. Once only.
  /// @throws Error(io)
  void commit();

 private:
  [[noreturn]] void fail_writing(int error_number) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Writes `content` to `path` atomically. @throws Error(io) naming the path and the reason
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Whether `name`, without its directory, is that of a file being written, or left behind by a writer that was killed.
bool is_unfinished_file(const std::string& name);

/// Removes from `directory` the temporary files of writers that were killed before `commit`; of living writers too, so
/// only for a directory that no other thread or process writes to. What cannot be removed stays.
void remove_unfinished_files(const std::filesystem::path& directory);

/// Makes a rename, creation or removal inside `directory` durable. @throws Error(io)
void sync_directory(const std::filesystem::path& directory);

}  // namespace stein
