// Lines of a log that are kept together, for several to read.
#pragma once

#include <stein/core/line_reader.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// Consecutive lines of a file, and where they stand.
class LineBlock {
 public:
  /// Forgets its lines; the next one stands behind `begin`.
  void clear(const LinePosition& begin) {
    text_.clear(), ends_.clear(), positions_.clear();
    begin_ = begin;
  }
  void add(std::string_view line, const LinePosition& behind) {
    text_ += line;
    ends_.push_back(text_.size());
    positions_.push_back(behind);
  }

  std::int64_t size() const { return std::ssize(ends_); }
  std::size_t bytes() const { return text_.size(); }
  std::string_view line(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    const std::size_t begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(begin, ends_[k] - begin);
  }
  const LinePosition& begin() const { return begin_; }
  /// Behind line `i`.
  const LinePosition& position(std::int64_t i) const { return positions_[static_cast<std::size_t>(i)]; }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  ///< of the lines in it
  std::vector<LinePosition> positions_;
  LinePosition begin_{};
};

}  // namespace stein::replay
