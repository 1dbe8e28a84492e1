// The fuzzers' corpus is read again, and every format is given the others' logs.
#include <stein/replay/log_format.h>
#include <stein/replay/log_reader.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "fuzz/corpus.h"
#include "fuzz/replay/feed_log.h"

using namespace stein;
using namespace stein::replay;

namespace {

LogReader any_reader(const std::filesystem::path& file, const std::string& format) {
  return {{file}, log_formats().at(format).builder()->make(), 100};
}

void read_all(const std::filesystem::path& file, const std::string& format) {
  LogReader log = any_reader(file, format);
  LoggedEvent event;
  while (log.next(event)) {
  }
}

}  // namespace

TEST_CASE("no text of the corpus breaks any format", "[replay][fuzz]") {
  for (const std::string& origin : log_formats().names()) {
    const std::map<std::string, std::string> texts = test::corpus("replay", origin);
    CHECK(texts.size() >= 5);
    for (const auto& [file, text] : texts) {
      for (const std::string& format : log_formats().names()) {
        CAPTURE(origin, file, format);
        CHECK_NOTHROW(test::feed_log(format, text));
      }
    }
  }
}

TEST_CASE("a log of another format is refused with the name of its own", "[replay][fuzz]") {
  const test::TemporaryDirectory folder;
  for (const std::string& origin : log_formats().names()) {
    const std::filesystem::path file =
        test::write(folder / (origin + ".log"), test::corpus("replay", origin).at("events"));
    LogReader own = any_reader(file, origin);
    LoggedEvent event;
    CHECK(own.next(event));
    for (const std::string& format : log_formats().names()) {
      if (format == origin) continue;
      CAPTURE(origin, format);
      CHECK_ERROR(read_all(file, format), data, file.string(), "its first line looks like", origin);
    }
  }
}

TEST_CASE("every format refuses a log of gzip that was cut, and one cut in a line loses that line", "[replay][fuzz]") {
  const test::TemporaryDirectory folder;
  for (const std::string& format : log_formats().names()) {
    CAPTURE(format);
    const std::string events = test::corpus("replay", format).at("events");
    const std::filesystem::path cut = test::write_gzip(folder / (format + ".gz"), events);
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 12);
    CHECK_ERROR(read_all(cut, format), data, cut.string());
    const std::filesystem::path whole = test::write(folder / format, events);
    LogReader first = any_reader(whole, format);
    LoggedEvent event;
    std::int64_t count = 0;
    while (first.next(event)) ++count;
    CHECK(count == 3);
    CHECK(first.bad_line_count() == 0);
    LogReader second =
        any_reader(test::write(folder / (format + ".cut"), events.substr(0, events.size() - 12)), format);
    while (second.next(event)) --count;
    CHECK(count == 1);
    CHECK(second.bad_line_count() == 1);
  }
}
