#include <stein/core/progress.h>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace stein {
namespace {

using std::chrono::nanoseconds;

nanoseconds interval(ProgressStyle style) {
  return style == ProgressStyle::bar ? nanoseconds(std::chrono::milliseconds(100))
                                     : nanoseconds(std::chrono::seconds(5));
}

std::string duration_text(double seconds) {
  const long whole = std::lround(std::min(seconds, 3.6e8));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double rate) {
  return rate < 100 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

std::string bar_text(double share) {
  constexpr int width = 24;
  const int full = static_cast<int>(share * width);
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(full), '='),
                     std::string(static_cast<std::size_t>(width - full), ' '));
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
}

}  // namespace

TerminalProgress::TerminalProgress(ProgressStyle style, Write write, Now now)
    : style_(style), write_(std::move(write)), now_(std::move(now)) {}

TerminalProgress::~TerminalProgress() {
  if (running_ && style_ == ProgressStyle::bar) write_("\n");  // leave the bar of an abandoned task readable
}

void TerminalProgress::begin(std::string_view task, std::string_view unit, std::uint64_t total, std::uint64_t done) {
  const std::scoped_lock lock(mutex_);
  task_ = task;
  unit_ = unit;
  total_ = total;
  estimated_ = false;
  done_before_ = done;
  done_ = done;
  began_ = now_();
  running_ = true;
  next_draw_ = (began_ + interval(style_)).count();
}

void TerminalProgress::advance(std::uint64_t units) {
  done_.fetch_add(units, std::memory_order_relaxed);
  const nanoseconds now = now_();
  if (now.count() < next_draw_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);  // whoever comes second need not draw
  if (!lock.owns_lock() || !running_ || now.count() < next_draw_.load()) return;
  next_draw_ = (now + interval(style_)).count();
  draw(now);
}

void TerminalProgress::expect(std::uint64_t total) {
  const std::scoped_lock lock(mutex_);
  total_ = total;
  estimated_ = true;
}

void TerminalProgress::finish() {
  const std::scoped_lock lock(mutex_);
  if (!running_) return;
  draw(now_());
  if (style_ == ProgressStyle::bar) write_("\n");
  running_ = false;
}

void TerminalProgress::draw(nanoseconds now) {
  const std::string text = describe(now);
  if (style_ == ProgressStyle::lines) return write_(text + "\n");
  write_("\r" + text.substr(0, terminal_width() - 1) + "\x1b[K");
}

std::string TerminalProgress::describe(nanoseconds now) const {
  const std::uint64_t done = done_.load(std::memory_order_relaxed);
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - done_before_) / seconds : 0;
  const std::uint64_t total = estimated_ ? std::max(total_, done) : total_;
  if (total_ == 0) return fmt::format("{}: {} {}, {}/s", task_, done, unit_, rate_text(rate));

  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string text =
      fmt::format("{} {}{:3.0f} %, {} of {}{} {}, {}/s", style_ == ProgressStyle::bar ? task_ : task_ + ":",
                  style_ == ProgressStyle::bar ? bar_text(share) + " " : "", 100 * share, done,
                  estimated_ ? "about " : "", total, unit_, rate_text(rate));
  if (done >= total) return text + fmt::format(", took {}", duration_text(seconds));
  if (rate > 0) text += fmt::format(", {} left", duration_text(static_cast<double>(total - done) / rate));
  return text;
}

std::unique_ptr<Progress> make_progress(bool quiet) {
  if (quiet) return std::make_unique<SilentProgress>();
  const auto write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  const auto now = [] { return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); };
  const ProgressStyle style = ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
  return std::make_unique<TerminalProgress>(style, write, now);
}

}  // namespace stein
