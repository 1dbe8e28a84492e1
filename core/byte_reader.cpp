#include <stein/core/byte_reader.h>

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include <stein/core/error.h>
#include <stein/core/input_file.h>

namespace stein {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;
constexpr std::string_view gzip_magic = "\x1f\x8b";

}  // namespace

/// The text of a file as a stream of bytes, decompressed if the file is gzip.
///
/// zlib's own gzread takes bytes after a member for padding unless they begin with 1f 8b: damage there would end a text
/// of several members early and silently. Here only a member may follow a member.
class ByteReader::Source {
 public:
  explicit Source(const std::filesystem::path& path) : file_(path), block_(block_size) {
    refill();
    is_gzip_ = unread().starts_with(gzip_magic);
    if (!is_gzip_ && path.extension() == ".gz") {
      fail(ErrorKind::data, "'{}' is not a gzip file: expected it to begin with the bytes 1f 8b", path.string());
    }
    constexpr int gzip_only = 15 + 16;  // the largest window; neither zlib nor raw streams
    if (is_gzip_ && ::inflateInit2(&stream_, gzip_only) != Z_OK) fail_memory();
  }
  ~Source() {
    if (is_gzip_) ::inflateEnd(&stream_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const InputFile& file() const { return file_; }
  bool is_gzip() const { return is_gzip_; }
  std::uint64_t file_bytes_read() const { return file_.offset() - stream_.avail_in; }

  /// Reads text into `buffer`: at least one byte, or none at the end.
  std::size_t read(std::span<char> buffer) {
    const std::size_t count = is_gzip_ ? read_gzip(buffer) : read_plain(buffer);
    text_read_ += count;
    return count;
  }

  /// Makes the next read begin at byte `offset` of the text; false if the text ends before. Overwrites `scratch`.
  bool seek(std::uint64_t offset, std::span<char> scratch) {
    if (!is_gzip_) {
      if (file_.size() > 0 && offset > file_.size()) return false;
      drop_block(offset);
      return true;
    }
    if (offset < text_read_) {
      drop_block(0);
      inside_member_ = false;
    }
    while (text_read_ < offset) {
      const std::uint64_t missing = offset - text_read_;
      if (read(scratch.first(std::min<std::uint64_t>(missing, scratch.size()))) == 0) return false;
    }
    return true;
  }

 private:
  std::size_t read_plain(std::span<char> buffer) {
    if (stream_.avail_in == 0) return file_.read(std::as_writable_bytes(buffer));
    const std::string_view first = unread().substr(0, buffer.size());  // read to see whether the file is gzip
    std::ranges::copy(first, buffer.begin());
    stream_.next_in += first.size();
    stream_.avail_in -= static_cast<uInt>(first.size());
    return first.size();
  }

  std::size_t read_gzip(std::span<char> buffer) {
    const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) refill();
      if (stream_.avail_in == 0 && !inside_member_) return 0;
      if (stream_.avail_in == 0) {
        fail(ErrorKind::data, "'{}' is truncated: its gzip stream ends early, after {} bytes of text",
             file_.path().string(), text_read_);
      }
      inflate_once();
    }
    return room - stream_.avail_out;
  }

  void inflate_once() {
    if (!inside_member_) ::inflateReset(&stream_);
    inside_member_ = true;
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) fail_memory();
    if (code != Z_OK && code != Z_STREAM_END) {
      fail(ErrorKind::data, "'{}' is damaged: its gzip stream breaks after {} bytes of text ({})",
           file_.path().string(), text_read_, stream_.msg != nullptr ? stream_.msg : "no progress");
    }
    inside_member_ = code != Z_STREAM_END;
  }

  std::string_view unread() const { return {reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in}; }

  void refill() {
    stream_.avail_in = static_cast<uInt>(file_.read(std::as_writable_bytes(std::span(block_))));
    stream_.next_in = block_.data();
  }

  void drop_block(std::uint64_t offset) {
    file_.seek(offset);
    stream_.avail_in = 0;
    text_read_ = offset;
  }

  [[noreturn]] void fail_memory() const {
    fail(ErrorKind::io, "cannot read '{}': out of memory", file_.path().string());
  }

  InputFile file_;
  std::vector<Bytef> block_;  ///< bytes of the file; stream_.next_in and avail_in say which are unread, plain or not
  z_stream stream_{};
  bool is_gzip_ = false;
  bool inside_member_ = true;
  std::uint64_t text_read_ = 0;
};

ByteReader::ByteReader(const std::filesystem::path& path) : source_(std::make_unique<Source>(path)) {}

ByteReader::~ByteReader() = default;
ByteReader::ByteReader(ByteReader&&) noexcept = default;
ByteReader& ByteReader::operator=(ByteReader&&) noexcept = default;

std::size_t ByteReader::read(std::span<char> buffer) {
  return source_->read(buffer);
}

bool ByteReader::seek(std::uint64_t offset, std::span<char> scratch) {
  return source_->seek(offset, scratch);
}

bool ByteReader::is_gzip() const {
  return source_->is_gzip();
}

std::uint64_t ByteReader::file_bytes_read() const {
  return source_->file_bytes_read();
}

std::uint64_t ByteReader::file_bytes() const {
  return source_->file().size();
}

const std::filesystem::path& ByteReader::path() const {
  return source_->file().path();
}

}  // namespace stein
