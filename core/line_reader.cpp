#include <stein/core/byte_order_mark.h>
#include <stein/core/line_reader.h>

#include <cstring>
#include <span>

#include <stein/core/error.h>

namespace stein {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;
constexpr std::size_t longest_allowed_line = std::size_t{1} << 40;  // room for the line end must not overflow

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, std::size_t longest_line)
    : bytes_(path), longest_line_(longest_line), buffer_(block_size) {
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
  const bool is_inside = bytes_.seek(at_start ? 0 : position.bytes - 1, buffer_);
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
  return bytes_.file_bytes_read();
}

std::uint64_t LineReader::file_bytes() const {
  return bytes_.file_bytes();
}

const std::filesystem::path& LineReader::path() const {
  return bytes_.path();
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
  const std::size_t count = bytes_.read(std::span(buffer_).subspan(end_));
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
