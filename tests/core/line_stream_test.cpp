#include <stein/core/line_stream.h>

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/error_matcher.h"

namespace stein {
namespace {

/// A pipe whose both ends close with it.
struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { REQUIRE(::pipe(ends.data()) == 0); }
  ~Pipe() { close_in(), ::close(ends[0]); }
  void write(const std::string& text) const {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void close_in() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
};

std::vector<std::string> rest_of_stream(LineStream& lines) {
  std::vector<std::string> all;
  for (std::string_view line; lines.next(line, {});) all.emplace_back(line);
  return all;
}

TEST_CASE("a byte order mark is dropped at the start, and nowhere else", "[core][line_stream]") {
  Pipe pipe;
  LineStream lines(pipe.ends[0]);
  pipe.write("\xef\xbb\xbfone\n\xef\xbb\xbftwo\n");
  pipe.close_in();
  CHECK(rest_of_stream(lines) == std::vector<std::string>{"one", "\xef\xbb\xbftwo"});
}

TEST_CASE("lines come as they are written, and the last needs no end", "[core][line_stream]") {
  Pipe pipe;
  LineStream lines(pipe.ends[0]);
  std::string_view line;
  pipe.write("one\ntwo\r\n\nhal");
  CHECK_FALSE(lines.ready());  // nothing was read yet
  REQUIRE(lines.next(line, {}));
  CHECK(line == "one");
  CHECK(lines.ready());
  REQUIRE(lines.next(line, {}));
  CHECK(line == "two");
  REQUIRE(lines.next(line, {}));
  CHECK(line.empty());
  CHECK_FALSE(lines.ready());  // half a line: whoever answers should hand its answers on
  pipe.write("f\nlast");
  pipe.close_in();
  CHECK(rest_of_stream(lines) == std::vector<std::string>{"half", "last"});
  CHECK(lines.ready());
  CHECK_FALSE(lines.next(line, {}));
}

TEST_CASE("long lines and many lines come whole", "[core][line_stream]") {
  Pipe pipe;
  std::vector<std::string> written;
  for (int i = 0; i < 3000; ++i)
    written.push_back(std::string(static_cast<std::size_t>(i % 300), 'x') + std::to_string(i));
  written.emplace_back(200'000, 'y');
  std::thread writer([&] {
    for (const std::string& each : written) pipe.write(each + "\n");
    pipe.close_in();
  });
  LineStream lines(pipe.ends[0]);
  CHECK(rest_of_stream(lines) == written);
  writer.join();
}

TEST_CASE("waiting for a line ends where asked to stop", "[core][line_stream]") {
  Pipe pipe;
  LineStream lines(pipe.ends[0]);
  StopToken stop;
  std::thread asking([&] { stop.request_stop(); });
  std::string_view line;
  CHECK_FALSE(lines.next(line, stop));
  asking.join();
  pipe.write("still there\n");
  REQUIRE(lines.next(line, {}));
  CHECK(line == "still there");
}

TEST_CASE("an empty stream has no line, and what cannot be read is said", "[core][line_stream]") {
  Pipe pipe;
  pipe.close_in();
  LineStream lines(pipe.ends[0]);
  CHECK(rest_of_stream(lines).empty());
  std::string_view line;
  LineStream closed(-1);
  StopToken stop;
  stop.request_stop();
  CHECK_FALSE(closed.next(line, stop));
}

}  // namespace
}  // namespace stein
