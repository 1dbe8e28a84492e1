#include <stein/core/read_file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <stein/core/error.h>
#include <stein/core/reading_error.h>

namespace stein {
namespace {

[[noreturn]] void fail_oversized(const std::filesystem::path& path, std::uint64_t limit) {
  fail(ErrorKind::data, "'{}' is larger than the {} bytes allowed for it", path.string(), limit);
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (value_ < 0) fail_reading(path, errno);
    struct stat about {};
    if (::fstat(value_, &about) != 0 || !S_ISDIR(about.st_mode)) return;
    ::close(value_);
    fail_reading(path, EISDIR);
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// zlib's reader over a file; closes it whatever happens.
class GzipReader {
 public:
  explicit GzipReader(const std::filesystem::path& path) : path_(path) {
    Descriptor descriptor(path);
    file_ = ::gzdopen(descriptor.get(), "rb");
    if (file_ == nullptr) fail(ErrorKind::io, "cannot read '{}': out of memory", path.string());
    descriptor.release();
  }
  ~GzipReader() { ::gzclose_r(file_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `buffer` as far as the file reaches and cuts it to what was read.
  void read(std::string& buffer) {
    const int count = ::gzread(file_, buffer.data(), static_cast<unsigned>(buffer.size()));
    int code = Z_OK;
    const char* reason = ::gzerror(file_, &code);
    if (code == Z_ERRNO) fail_reading(path_, errno);
    if (code == Z_BUF_ERROR) fail(ErrorKind::data, "'{}' is truncated: the gzip stream ends early", path_.string());
    if (code != Z_OK || count < 0) fail(ErrorKind::data, "'{}' is damaged: {}", path_.string(), reason);
    if (::gzdirect(file_) != 0) fail(ErrorKind::data, "'{}' is not a gzip file", path_.string());
    buffer.resize(static_cast<std::size_t>(count));
  }

 private:
  const std::filesystem::path& path_;
  gzFile file_;
};

std::string join(std::vector<std::string>& pieces, std::size_t total) {
  std::string text;
  text.reserve(total);
  for (std::string& piece : pieces) {
    text += piece;
    piece = {};
  }
  return text;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  const Descriptor descriptor(path);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail_reading(path, errno);
  if (S_ISDIR(status.st_mode)) fail_reading(path, EISDIR);
  const auto expected = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  if (expected > limit) fail_oversized(path, limit);

  std::string content(expected, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == content.size()) content.resize(content.size() + 4096);  // the file grew, or reports no size
    const ssize_t count = ::read(descriptor.get(), content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_reading(path, errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > limit) fail_oversized(path, limit);
  }
  content.resize(filled);
  return content;
}

std::string read_text(const std::filesystem::path& path, std::uint64_t limit) {
  if (path.extension() != ".gz") return read_file(path, limit);
  constexpr std::size_t piece_size = std::size_t{1} << 20;
  GzipReader reader(path);
  std::vector<std::string> pieces;
  std::size_t total = 0;
  while (true) {
    std::string piece(piece_size, '\0');
    reader.read(piece);
    if (piece.empty()) return join(pieces, total);
    total += piece.size();
    if (total > limit) fail_oversized(path, limit);
    pieces.push_back(std::move(piece));
  }
}

}  // namespace stein
