// One process at a time: a file whose lock ends with the process that holds it, however that ends.
#pragma once

#include <filesystem>
#include <optional>

namespace stein {

/// A lock on a file, held until destruction. The file stays; its content means nothing.
class FileLock {
 public:
  /// Makes `path` if need be and locks it; nothing if another FileLock, in this process or another, holds it.
  /// A file system that knows no locks is warned of, and the lock then keeps nobody out.
  /// @throws Error(io) if the file cannot be made
  static std::optional<FileLock> take(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;  ///< −1 once moved from
};

}  // namespace stein
