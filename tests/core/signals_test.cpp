#include <stein/core/signals.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

namespace stein {
namespace {

/// Runs `body` in a child process and returns its wait status; handlers of this process stay as they are.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_CASE("copies of a stop token share one request", "[core][stop_token]") {
  const StopToken token;
  const StopToken copy = token;
  CHECK_FALSE(token.stop_requested());
  copy.request_stop();
  CHECK(token.stop_requested());
  CHECK_FALSE(StopToken().stop_requested());
}

TEST_CASE("SIGINT, SIGTERM, SIGHUP and SIGUSR1 only set the token", "[core][signals]") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const int status = in_child([signal] {
      const StopToken token;
      install_signal_handlers(token);
      ::raise(signal);
      ::raise(signal);  // at once: the same request, as `timeout` sends it
      return token.stop_requested() ? 42 : 1;
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 42);
  }
}

TEST_CASE("a SIGHUP that nohup made the process ignore stays ignored", "[core][signals]") {
  const int status = in_child([] {
    std::signal(SIGHUP, SIG_IGN);
    const StopToken token;
    install_signal_handlers(token);
    ::raise(SIGHUP);
    return token.stop_requested() ? 1 : 42;
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("a second SIGINT ends the process at once, a second SIGTERM does not", "[core][signals]") {
  const auto twice = [](int signal) {
    return in_child([signal] {
      install_signal_handlers(StopToken());
      ::raise(signal);
      ::usleep(600'000);
      ::raise(signal);
      return 42;
    });
  };
  const int interrupted = twice(SIGINT);
  REQUIRE(WIFSIGNALED(interrupted));
  CHECK(WTERMSIG(interrupted) == SIGINT);
  const int terminated = twice(SIGTERM);
  REQUIRE(WIFEXITED(terminated));
  CHECK(WEXITSTATUS(terminated) == 42);
}

}  // namespace
}  // namespace stein
