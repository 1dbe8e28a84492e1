#include <stein/core/signals.h>

#include <unistd.h>

#include <csignal>
#include <ctime>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <stein/core/error.h>

namespace stein {
namespace {

// A handler reaches nothing but statics. The token is never freed, so a late signal finds it alive.
const StopToken* volatile handled_token = nullptr;
std::atomic<std::int64_t> first_request_milliseconds{0};

/// Says on a terminal what the first Ctrl-C does, as work that was begun is ended first. Only what a handler may call.
void announce_stop() noexcept {
  static constexpr char text[] = "\r\x1b[Kstein: stopping where it can be saved; Ctrl-C again ends it at once\n";
  if (::isatty(STDERR_FILENO) != 0) static_cast<void>(!::write(STDERR_FILENO, text, sizeof(text) - 1));
}

std::int64_t milliseconds_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

extern "C" void on_signal(int signal) {
  const int saved_errno = errno;
  const StopToken& token = *handled_token;
  const std::int64_t now = milliseconds_now();
  if (!token.stop_requested()) {
    first_request_milliseconds.store(now);
    token.request_stop();
    if (signal == SIGINT) announce_stop();
  } else if (signal == SIGINT && now - first_request_milliseconds.load() > 500) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  errno = saved_errno;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handlers(const StopToken& token) {
  handled_token = new StopToken(token);  // NOLINT(cppcoreguidelines-owning-memory): see above
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    if (signal == SIGHUP && is_ignored(signal)) continue;
    if (::sigaction(signal, &action, nullptr) != 0) {
      fail(ErrorKind::io, "cannot handle signal {}: {}", signal, std::strerror(errno));
    }
  }
}

}  // namespace stein
