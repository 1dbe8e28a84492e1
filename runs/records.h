// What a repetition reports while it goes on, until it is written.
#pragma once

#include <stein/core/snapshot.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::runs {

/// Metrics and log lines of one repetition that have not been written yet: they wait until all repetitions have come so
/// far, so that files are in order of steps, and then of seeds, at any number of threads.
class Records {
 public:
  /// A number that was measured at a step.
  struct Number {
    std::int64_t step;
    std::string tag;
    double value;
  };
  /// A line of a log, and the step it was written at.
  struct Line {
    std::int64_t step;
    std::string text;
  };

  /// @param wants_lines  whether the run keeps a log of lines
  explicit Records(bool wants_lines) : wants_lines_(wants_lines) {}

  /// Records `value` of quantity `tag` after `step` steps. Steps must not fall.
  void number(std::int64_t step, std::string_view tag, double value) {
    numbers_.push_back({step, std::string(tag), value});
  }
  bool wants_lines() const { return wants_lines_; }
  /// Adds a line to the log of the run, after `step` steps. Steps must not fall.
  void line(std::int64_t step, std::string text) { lines_.push_back({step, std::move(text)}); }

  std::vector<Number>& numbers() { return numbers_; }
  const std::vector<Number>& numbers() const { return numbers_; }
  std::vector<Line>& lines() { return lines_; }
  const std::vector<Line>& lines() const { return lines_; }

  /// Forgets what waits.
  void clear();
  /// Adds what other records of the same repetition saved, all of later steps.
  void append(const Snapshot& snapshot);

  void save(Snapshot& snapshot) const;
  /// Nothing is waiting where `snapshot` holds no records. Throws Error(data) where their parts do not fit.
  void restore(const Snapshot& snapshot);

 private:
  bool wants_lines_;
  std::vector<Number> numbers_;
  std::vector<Line> lines_;
};

}  // namespace stein::runs
