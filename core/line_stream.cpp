#include <stein/core/byte_order_mark.h>
#include <stein/core/error.h>
#include <stein/core/line_stream.h>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stein {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 16;
constexpr int look_every = 100;  // at the wish to stop [ms]

}  // namespace

bool LineStream::ready() const {
  return ended_ || line_end_ != std::string::npos;
}

bool LineStream::next(std::string_view& line, const StopToken& stop) {
  while (!ready())
    if (!fill(stop)) return false;
  if (begin_ == buffer_.size()) return false;
  const std::size_t end = std::min(line_end_, buffer_.size());
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  if (!begun_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  begun_ = true;
  if (line.ends_with('\r')) line.remove_suffix(1);
  begin_ = std::min(end + 1, buffer_.size());
  line_end_ = buffer_.find('\n', begin_);
  return true;
}

bool LineStream::fill(const StopToken& stop) {
  buffer_.erase(0, begin_);
  begin_ = 0;
  pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
  while (::poll(&waiting, 1, look_every) <= 0)
    if (stop.stop_requested()) return false;
  const std::size_t before = buffer_.size();
  if (before > longest_line) fail(ErrorKind::data, "a line has more than {} bytes", longest_line);
  buffer_.resize(before + chunk);
  const ssize_t bytes = ::read(descriptor_, buffer_.data() + before, chunk);
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  if (bytes < 0 && errno != EINTR) fail(ErrorKind::io, "cannot read from standard input: {}", std::strerror(errno));
  ended_ = bytes == 0;
  line_end_ = buffer_.find('\n', before);
  return true;
}

}  // namespace stein
