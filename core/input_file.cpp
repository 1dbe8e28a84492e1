#include <stein/core/input_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <stein/core/error.h>
#include <stein/core/reading_error.h>

namespace stein {
InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_reading(path_, errno);
  struct stat status {};
  const int reason = ::fstat(descriptor_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (reason != 0) {
    ::close(descriptor_);
    fail_reading(path_, reason);
  }
  size_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::size_t InputFile::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_reading(path_, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  offset_ += filled;
  return filled;
}

void InputFile::seek(std::uint64_t offset) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) fail_reading(path_, errno);
  offset_ = offset;
}

}  // namespace stein
