#include <stein/core/byte_order_mark.h>
#include <stein/core/line_reader.h>

#include <zlib.h>

#include <cstring>
#include <limits>
#include <span>

#include <stein/core/error.h>
#include <stein/core/input_file.h>

namespace stein {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;
constexpr std::size_t longest_allowed_line = std::size_t{1} << 40;  // room for the line end must not overflow
constexpr std::string_view gzip_magic = "\x1f\x8b";

}  // namespace

/// The text of a file as a stream of bytes, decompressed if the file is gzip.
///
/// zlib's own gzread takes bytes after a member for padding unless they begin with 1f 8b: damage there would end a text
/// of several members early and silently. Here only a member may follow a member.
class LineReader::Source {
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

LineReader::LineReader(const std::filesystem::path& path, std::size_t longest_line)
    : source_(std::make_unique<Source>(path)), longest_line_(longest_line), buffer_(block_size) {
  STEIN_CHECK(longest_line >= 1 && longest_line <= longest_allowed_line,
              "the longest line of '{}' must have 1 to {} bytes, got {}", path.string(), longest_allowed_line,
              longest_line);
}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

bool LineReader::next(std::string_view& line) {
  if (position_.bytes == 0) drop_byte_order_mark();
  std::size_t searched = 0;  // bytes behind begin_ that hold no line end
  while (true) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t available = end_ - begin_;
    const void* const found = std::memchr(start + searched, '\n', available - searched);
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
      const bool has_return = length > 0 && start[length - 1] == '\r';
      line = has_return ? take(length - 1, 2) : take(length, 1);
      return true;
    }
    searched = available;
    if (available > longest_line_ + 1) fail_long_line();  // by two bytes: one may be the "\r" of a line end
    if (fill()) continue;
    if (available == 0) return false;
    line = take(available, 0);
    return true;
  }
}

void LineReader::skip_to(const LinePosition& position) {
  STEIN_CHECK(position.lines <= position.bytes, "'{}' has no position with {} lines in {} bytes", path().string(),
              position.lines, position.bytes);
  // The byte before the position tells whether a line begins there.
  begin_ = end_ = 0;
  position_ = {};
  const bool at_start = position.bytes == 0;
  const bool is_inside = source_->seek(at_start ? 0 : position.bytes - 1, buffer_);
  if (at_start) return;
  if (!is_inside || !fill()) {
    fail(ErrorKind::data, "'{}' ends before byte {} of its text, where reading was to go on: it was cut or replaced",
         path().string(), position.bytes);
  }
  const bool ends_line = buffer_[begin_++] == '\n';
  if (!ends_line && (begin_ < end_ || fill())) {
    fail(ErrorKind::data,
         "'{}': expected line {} to begin at byte {} of its text, found the middle of a line there: "
         "the file was replaced",
         path().string(), position.lines + 1, position.bytes);
  }
  position_ = position;
}

std::uint64_t LineReader::file_bytes_read() const {
  return source_->file_bytes_read();
}

std::uint64_t LineReader::file_bytes() const {
  return source_->file().size();
}

const std::filesystem::path& LineReader::path() const {
  return source_->file().path();
}

void LineReader::fail_at(std::uint64_t line, std::string_view sentence) const {
  fail(ErrorKind::data, "'{}', line {}: {}", path().string(), line, sentence);
}

void LineReader::fail_long_line() const {
  fail_at(position_.lines + 1, fmt::format("longer than the {} bytes allowed for a line", longest_line_));
}

void LineReader::drop_byte_order_mark() {
  while (end_ - begin_ < byte_order_mark.size() && fill()) {
  }
  if (!std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(byte_order_mark)) return;
  begin_ += byte_order_mark.size();
  position_.bytes = byte_order_mark.size();
}

/// Adds text behind `end_`, after moving the unread text to the front of the buffer; false at the end of the file.
bool LineReader::fill() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), longest_line_ + 2));
  const std::size_t count = source_->read(std::span(buffer_).subspan(end_));
  end_ += count;
  return count > 0;
}

/// The line of `length` bytes at `begin_`, taken out of the buffer with its line end.
std::string_view LineReader::take(std::size_t length, std::size_t line_end) {
  if (length > longest_line_) fail_long_line();
  const std::string_view line(buffer_.data() + begin_, length);
  begin_ += length + line_end;
  position_.bytes += length + line_end;
  ++position_.lines;
  return line;
}

}  // namespace stein
