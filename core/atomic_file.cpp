#include <stein/core/atomic_file.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <regex>
#include <system_error>
#include <utility>
#include <vector>

#include <stein/core/error.h>

namespace stein {
namespace {

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// The file that is to be written: behind a link the one that it leads to.
std::filesystem::path target_of(std::filesystem::path path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail(ErrorKind::io, "cannot write '{}': it is {}, expected a file", path.string(),
         std::filesystem::is_directory(status) ? "a folder" : "a device or a pipe");
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  return std::filesystem::exists(status) ? std::filesystem::canonical(path)
                                         : path.parent_path() / std::filesystem::read_symlink(path);
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};  // two threads may write the same path at once
  return directory_of(path) / fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter.fetch_add(1));
}

}  // namespace

bool is_unfinished_file(const std::string& name) {
  static const std::regex made_by_temporary_name(R"(\..+\.\d+-\d+\.tmp)");
  return std::regex_match(name, made_by_temporary_name);
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(target_of(std::move(path))), temporary_(temporary_name(path_)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail_writing(errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail_writing(int error_number) const {
  fail(ErrorKind::io, "cannot write '{}': {}", path_.string(), std::strerror(error_number));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_writing(errno);  // EINVAL: the file system cannot flush
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_writing(errno);
  const int result = ::close(std::exchange(descriptor_, -1));
  if (result != 0 && errno != EINTR) fail_writing(errno);
  sync_directory(directory_of(path_));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void remove_unfinished_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> doomed;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(directory, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (is_unfinished_file(entry->path().filename().string())) doomed.push_back(entry->path());
  }
  for (const std::filesystem::path& path : doomed) std::filesystem::remove(path, ignored);
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail(ErrorKind::io, "cannot open directory '{}': {}", directory.string(), std::strerror(errno));
  const int result = ::fsync(descriptor);
  const int error_number = errno;
  ::close(descriptor);
  if (result != 0 && error_number != EINVAL) {
    fail(ErrorKind::io, "cannot flush directory '{}': {}", directory.string(), std::strerror(error_number));
  }
}

}  // namespace stein
