#include <stein/core/file_lock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <stein/core/error.h>
#include <stein/core/log.h>

namespace stein {

std::optional<FileLock> FileLock::take(const std::filesystem::path& path) {
  FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ < 0) fail(ErrorKind::io, "cannot write '{}': {}", path.string(), std::strerror(errno));
  int result = -1;
  do {
    result = ::flock(lock.descriptor_, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return lock;
  if (errno == EWOULDBLOCK) return std::nullopt;
  log_warning("'{}' cannot be locked ({}): nothing keeps a second process out", path.string(), std::strerror(errno));
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace stein
