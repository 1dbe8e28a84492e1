// Ranks that share the lines of a log: whatever their number, they read what one process reads.
#include <stein/core/safetensors.h>
#include <stein/distributed/agree.h>
#include <stein/replay/csv_log.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/open_bandit.h>
#include <stein/replay/yahoo_r6a.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "distributed/thread_ranks.h"

using namespace stein;
using namespace stein::replay;
using test::write;
using test::write_gzip;
using Files = std::vector<std::filesystem::path>;

namespace {

CsvLog::Options three_arms() {
  return {.arm_names = {"a", "b", "c"}};
}

std::unique_ptr<LogReader> csv_reader(const Files& files, BadLines bad = BadLines::count) {
  return std::make_unique<LogReader>(files, std::make_unique<CsvLog>(three_arms()), 3, bad);
}

/// Rows of a table; every 23rd is a bad one, every 31st empty.
std::string rows(int begin, int end) {
  std::string text = "x,arm,reward,propensity\n";
  for (int i = begin; i < end; ++i) {
    if (i % 31 == 0)
      text += "\n";
    else if (i % 23 == 0)
      text += i % 2 == 0 ? "1,d,0,0.5\n" : "1,a,7,0.5\n";
    else
      text += std::to_string(i) + "," + "abc"[i % 3] + "," + std::to_string(i % 2) + ",0.5\n";
  }
  return text;
}

std::string told(const LoggedEvent& event) {
  std::string bytes;
  write_event(event, bytes);
  return bytes;
}

std::string state_of(const LogReader& log) {
  Snapshot state;
  log.save(state);
  return encode_safetensors(state);
}

/// Events of a log, and where its reader stands after the first `first` of them and at the end.
struct ReadStory {
  std::vector<std::string> events{};
  std::string middle, end;

  bool operator==(const ReadStory&) const = default;
};

ReadStory read_alone(const Files& files, std::size_t first) {
  const auto log = csv_reader(files);
  ReadStory story;
  for (LoggedEvent event; log->next(event);) {
    story.events.push_back(told(event));
    if (story.events.size() == first) story.middle = state_of(*log);
  }
  story.end = state_of(*log);
  return story;
}

/// What the first rank has after reading in blocks of `most`.
ReadStory read_together(const Files& files, std::size_t first, std::size_t most, int size) {
  ReadStory story;
  test::on_ranks(size, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    const auto log = csv_reader(files);
    std::vector<LoggedEvent> events(most);
    ReadStory own;
    const auto read = [&](std::size_t until) {
      while (own.events.size() < until) {
        const std::size_t room = std::min(most, until - own.events.size());
        const std::int64_t count = log->next_together(std::span(events).first(room), *ranks);
        if (count == 0) return;
        for (std::int64_t i = 0; i < count; ++i) own.events.push_back(told(events[static_cast<std::size_t>(i)]));
      }
    };
    read(first);
    log->bring_together(*ranks);
    own.middle = state_of(*log);
    read(1'000'000);
    log->bring_together(*ranks);
    own.end = state_of(*log);
    if (ranks->is_root()) story = own;
  });
  return story;
}

}  // namespace

TEST_CASE("ranks that share lines read what one reads, bad and empty lines, files and places included",
          "[replay][reader][distributed]") {
  const test::TemporaryDirectory folder;
  const Files files{write(folder / "1.csv", rows(1, 300)), write_gzip(folder / "2.csv.gz", rows(300, 900)),
                    write(folder / "3.csv", rows(900, 905))};
  const ReadStory alone = read_alone(files, 500);
  REQUIRE(alone.events.size() > 800);
  for (const int size : {1, 2, 3, 4})
    for (const std::size_t most : {1, 7, 256}) {
      CAPTURE(size, most);
      const ReadStory together = read_together(files, 500, most, size);
      CHECK((together.events == alone.events));
      CHECK((together.middle == alone.middle));
      CHECK((together.end == alone.end));
    }
}

TEST_CASE("an error is told as by one who reads alone, on every rank", "[replay][reader][distributed]") {
  const test::TemporaryDirectory folder;
  std::string text = "x,arm,reward,propensity\n";
  for (int i = 0; i < 50; ++i) text += "1,a,0,0.5\n";
  const std::string end = text + "1,d,0,0.5\n" + "1,a,0,0.5\n";
  const Files files{write(folder / "log.csv", end)};
  std::string expected;
  try {
    const auto log = csv_reader(files, BadLines::stop);
    for (LoggedEvent event; log->next(event);) continue;
  } catch (const Error& error) {
    expected = error.what();
  }
  REQUIRE(expected.find("line 52") != std::string::npos);
  std::vector<std::string> found(3);
  test::on_ranks(3, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    const auto log = csv_reader(files, BadLines::stop);
    std::vector<LoggedEvent> events(100);
    try {
      while (log->next_together(events, *ranks) > 0) continue;
    } catch (const distributed::AgreedError& error) {
      found[static_cast<std::size_t>(ranks->rank())] = error.what();
    }
  });
  for (const std::string& sentence : found) CHECK(sentence == expected);
}

TEST_CASE("ranks whose logs differ end instead of waiting for each other", "[replay][reader][distributed]") {
  const test::TemporaryDirectory folder;
  const Files longer{write(folder / "longer.csv", rows(1, 200))}, shorter{write(folder / "shorter.csv", rows(1, 90))};
  std::vector<int> ended(2);
  test::on_ranks(2, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    const auto log = csv_reader(ranks->is_root() ? longer : shorter);
    std::vector<LoggedEvent> events(64);
    try {
      while (log->next_together(events, *ranks) > 0) continue;
    } catch (const distributed::AgreedError& error) {
      ended[static_cast<std::size_t>(ranks->rank())] = error.kind() == ErrorKind::data;
    }
  });
  CHECK(ended == std::vector<int>{1, 1});
}

TEST_CASE("lines stand alone where all arms are known and nothing before is asked for", "[replay][reader]") {
  CHECK(CsvLog(three_arms()).lines_stand_alone());
  CHECK_FALSE(CsvLog(CsvLog::Options{}).lines_stand_alone());
  CsvLog::Options with_ids = three_arms(), with_categories = three_arms();
  with_ids.id = "request", with_categories.categories = {"device"};
  CHECK_FALSE(CsvLog(with_ids).lines_stand_alone());
  CHECK_FALSE(CsvLog(with_categories).lines_stand_alone());
  CHECK(OpenBandit(OpenBandit::Options{}).lines_stand_alone());
  CHECK_FALSE(YahooR6a(YahooR6a::Options{}).lines_stand_alone());  // articles come and go
}
