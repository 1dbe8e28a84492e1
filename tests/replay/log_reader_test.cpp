#include <stein/replay/log_reader.h>
#include <stein/replay/synthetic_news.h>
#include <stein/replay/yahoo_r6a.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

using namespace stein;
using namespace stein::replay;
using test::write;
using test::write_gzip;

namespace {

/// Lines of made-up news, `begin` to `end` − 1; `spoil` may change one.
std::string lines(std::int64_t begin, std::int64_t end) {
  SyntheticNews news({.seed = 3, .lifetime = 200});
  std::string text;
  for (std::int64_t i = begin; i < end; ++i) {
    news.event(i);
    text += news.line() + "\n";
  }
  return text;
}

LogReader reader(std::vector<std::filesystem::path> files, BadLines bad = BadLines::count, std::int64_t arms = 1000) {
  return {std::move(files), std::make_unique<YahooR6a>(YahooR6a::Options{}), arms, bad};
}

/// Time, action by name, and reward of everything that is left.
std::vector<std::string> rest(LogReader& log) {
  std::vector<std::string> found;
  LoggedEvent event;
  while (log.next(event))
    found.push_back(std::to_string(event.time) + " " + log.arms().name(event.action) + " " +
                    std::to_string(event.reward));
  return found;
}

}  // namespace

TEST_CASE("files are read one after the other, plain or gzip", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  auto whole = reader({write(folder / "all", lines(0, 300))});
  auto parts = reader({write(folder / "1", lines(0, 100)), write_gzip(folder / "2.gz", lines(100, 250)),
                       write(folder / "empty", ""), write(folder / "3", lines(250, 300))});
  const std::vector<std::string> expected = rest(whole);
  CHECK(expected.size() == 300);
  CHECK(rest(parts) == expected);
  CHECK(parts.events() == 300);
  CHECK(parts.bad_line_count() == 0);
  CHECK(parts.bytes_read() == parts.bytes());
}

TEST_CASE("bad lines are counted by reason, or stop with file and line", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  const std::string good = lines(0, 10);
  const std::string text = good + "nonsense\n" + good + "12 109000 3 |user\n13 109000 4 |user\n" + good;
  auto log = reader({write(folder / "log", text)});
  CHECK(rest(log).size() == 30);
  CHECK(log.bad_lines() ==
        std::map<std::string, std::int64_t>{{"the click is neither 0 nor 1", 2}, {"the time is no whole number", 1}});
  CHECK(log.bad_line_count() == 3);
  auto strict = reader({folder / "log"}, BadLines::stop);
  CHECK_ERROR(rest(strict), data, (folder / "log").string(), "line 11", "the time is no whole number");
}

TEST_CASE("a line that is cut in the middle is a bad line", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  const std::string text = lines(0, 10);
  auto log = reader({write(folder / "log", text.substr(0, text.size() - 30))});
  CHECK(rest(log).size() == 9);
  CHECK(log.bad_line_count() == 1);
}

TEST_CASE("a log of another format is refused with what it looks like", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  const std::string file = write(folder / "log", "a;b;c\n1;2;3\n");
  auto log = reader({file});
  CHECK_ERROR(rest(log), data, file, "the first 2 lines hold no event", "looks like none of");
  auto mixed = reader({write(folder / "mixed", "x\n13 109000 4 |user\ny\n")});
  CHECK_ERROR(rest(mixed), data, "1 × the click is neither 0 nor 1", "2 × the time is no whole number");
  std::string long_file;
  for (int i = 0; i < 1000; ++i) long_file += "1,2,3\n";
  auto longer = reader({write(folder / "long", long_file)});
  CHECK_ERROR(rest(longer), data, "the first 100 lines hold no event");
}

TEST_CASE("a reader goes on from where it was saved", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  std::vector<std::filesystem::path> files{write(folder / "1", lines(0, 100) + "nonsense\n"),
                                           write_gzip(folder / "2", lines(100, 200)),
                                           write(folder / "3", lines(200, 260))};
  auto whole = reader(files);
  const std::vector<std::string> expected = rest(whole);
  for (const std::int64_t stop : {0, 1, 99, 100, 101, 199, 200, 259, 260}) {
    CAPTURE(stop);
    auto first = reader(files), second = reader(files);
    LoggedEvent event;
    for (std::int64_t i = 0; i < stop; ++i) REQUIRE(first.next(event));
    Snapshot saved;
    first.save(saved);
    second.restore(saved);
    CHECK(second.events() == stop);
    Snapshot at_once;  // nothing was read since
    second.save(at_once);
    second.restore(at_once);
    CHECK(rest(second) == std::vector<std::string>(expected.begin() + stop, expected.end()));
    CHECK(second.bad_lines() == whole.bad_lines());
    CHECK(second.arms().size() == whole.arms().size());
  }
  auto fewer = reader({files[0]});
  auto all = reader(files);
  rest(all);
  Snapshot saved;
  all.save(saved);
  CHECK_ERROR(fewer.restore(saved), data, "does not fit 1 files");
}

TEST_CASE("a file that is named twice is refused, by whatever name", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = write(folder / "log", lines(0, 10)), link = folder / "link";
  std::filesystem::create_symlink(file, link);
  CHECK_ERROR(reader({file, write(folder / "other", ""), file}), usage, file.string(), "named twice");
  CHECK_ERROR(reader({file, link}), usage, link.string(), "named twice");
}

TEST_CASE("an empty log has no events, and one of gzip that was cut is refused", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  auto empty = reader({write(folder / "empty", ""), write_gzip(folder / "empty.gz", "")});
  CHECK(rest(empty).empty());
  CHECK(empty.bad_line_count() == 0);
  const std::filesystem::path cut = write_gzip(folder / "cut.gz", lines(0, 300));
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  CHECK_ERROR(
      [&] {
        auto log = reader({cut});
        rest(log);
      }(),
      data, cut.string());
}

TEST_CASE("files that are not there, and more arms than there is room for, are refused", "[replay][reader]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(reader({folder / "nowhere"}), data, "nowhere", "does not exist");
  CHECK_ERROR(reader({}), usage, "at least one file");
  auto log = reader({write(folder / "log", lines(0, 300))}, BadLines::count, 25);
  CHECK_ERROR(rest(log), data, (folder / "log").string(), "line ", "more than 25 arms", "`arms`");
}
