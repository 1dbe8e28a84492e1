#include <stein/core/progress.h>

#include <catch2/catch.hpp>
#include <string>

namespace stein {
namespace {

using namespace std::chrono_literals;

/// A progress whose clock and terminal are in the test's hands.
struct Watched {
  explicit Watched(ProgressStyle style)
      : progress(
            style, [this](std::string_view text) { output += text; }, [this] { return now; }) {}

  std::string output;
  std::chrono::nanoseconds now{1h};
  TerminalProgress progress;
};

TEST_CASE("away from a terminal, progress is a plain line every five seconds and at the end", "[core][progress]") {
  Watched watched(ProgressStyle::lines);
  watched.progress.begin("mushroom", "interactions", 1000, 0);
  for (int second = 1; second <= 10; ++second) {
    watched.now += 1s;
    watched.progress.advance(50);
  }
  watched.now += 2s;
  watched.progress.advance(500);
  watched.progress.finish();
  // Rates: 250 in 5 s; 500 in 10 s; 1000 in 12 s. Time left: 750 / 50 = 15 s; 500 / 50 = 10 s.
  CHECK(watched.output ==
        "mushroom:  25 %, 250 of 1000 interactions, 50/s, 0:15 left\n"
        "mushroom:  50 %, 500 of 1000 interactions, 50/s, 0:10 left\n"
        "mushroom: 100 %, 1000 of 1000 interactions, 83.3/s, took 0:12\n");
}

TEST_CASE("on a terminal, progress is one line that is drawn anew", "[core][progress]") {
  Watched watched(ProgressStyle::bar);
  watched.progress.begin("run", "steps", 100, 0);
  watched.now += 50ms;
  watched.progress.advance(10);
  CHECK(watched.output.empty());
  watched.now += 50ms;
  watched.progress.advance(40);
  CHECK(watched.output == "\rrun [============            ]  50 %, 50 of 100 steps, 500/s, 0:00 left\x1b[K");
  watched.progress.advance(50);
  watched.progress.finish();
  CHECK(watched.output.ends_with("100 %, 100 of 100 steps, 1000/s, took 0:00\x1b[K\n"));
  watched.progress.finish();
  CHECK(watched.output.ends_with("0:00\x1b[K\n"));
}

TEST_CASE("what a resumed task has behind it counts for the share, not for the rate", "[core][progress]") {
  Watched watched(ProgressStyle::lines);
  watched.progress.begin("run", "steps", 2000, 1000);
  watched.now += 100s;
  watched.progress.advance(1);
  CHECK(watched.output == "run:  50 %, 1001 of 2000 steps, 0.01/s, 27:45:00 left\n");  // 999 / 0.01 s = 99,900 s
}

TEST_CASE("the length of a task may turn out as it goes on", "[core][progress]") {
  Watched watched(ProgressStyle::lines);
  watched.progress.begin("replay", "events", 0, 0);
  watched.progress.expect(1000);
  watched.now += 5s;
  watched.progress.advance(250);
  watched.progress.expect(800);
  watched.now += 5s;
  watched.progress.advance(550);
  watched.progress.finish();
  CHECK(watched.output ==
        "replay:  25 %, 250 of about 1000 events, 50/s, 0:15 left\n"
        "replay: 100 %, 800 of about 800 events, 80/s, took 0:10\n"
        "replay: 100 %, 800 of about 800 events, 80/s, took 0:10\n");
}

TEST_CASE("a task of unknown length shows count and rate", "[core][progress]") {
  Watched watched(ProgressStyle::lines);
  watched.progress.begin("download", "bytes", 0, 0);
  watched.now += 5s;
  watched.progress.advance(1000);
  CHECK(watched.output == "download: 1000 bytes, 200/s\n");
}

}  // namespace
}  // namespace stein
