#include <stein/core/append_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <stein/core/error.h>
#include <stein/core/log.h>

namespace stein {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;

[[noreturn]] void fail_appending(const std::filesystem::path& path) {
  fail(ErrorKind::io, "cannot write '{}': {}", path.string(), std::strerror(errno));
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail_appending(path_);
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  flushed_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

AppendFile::~AppendFile() {
  try {
    flush();
  } catch (const Error& error) {
    log_error("{}", error.what());
  }
  ::close(descriptor_);
}

void AppendFile::append(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= buffer_size) flush();
}

void AppendFile::append_line(std::string_view line) {
  buffer_ += line;
  append("\n");
}

void AppendFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      buffer_.erase(0, buffer_.size() - rest.size());  // what is on the disk must not be written a second time
      errno = reason;
      fail_appending(path_);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
    flushed_ += static_cast<std::uint64_t>(written);
  }
  buffer_.clear();
}

void AppendFile::sync() {
  flush();
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_appending(path_);
}

void truncate_file(const std::filesystem::path& path, std::uint64_t bytes) {
  std::error_code error;
  const bool missing = !std::filesystem::exists(path, error);
  if (missing && bytes == 0) return;
  const std::uint64_t size = missing ? 0 : std::filesystem::file_size(path, error);
  if (error) fail(ErrorKind::io, "cannot read the size of '{}': {}", path.string(), error.message());
  if (size < bytes) {
    fail(ErrorKind::data, "'{}' has {} bytes, but the checkpoint was taken at {}: it was cut or replaced",
         path.string(), size, bytes);
  }
  if (size == bytes) return;
  if (::truncate(path.c_str(), static_cast<off_t>(bytes)) != 0) fail_appending(path);
}

}  // namespace stein
