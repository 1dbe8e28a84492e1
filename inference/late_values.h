// Values of an evaluation that a device still makes while its host goes on.
#pragma once

#include <stein/inference/storage/late_numbers.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace stein::inference {

/// The values of some rows, each on its way home by itself.
class LateValues {
 public:
  /// @param rows  of which `put` is told each once
  explicit LateValues(std::int64_t rows) : rows_(static_cast<std::size_t>(rows)), values_(rows_.size()) {}

  /// The value of a row is `scale` times the one number that is on its way.
  void put(std::int64_t row, std::unique_ptr<LateNumbers> number, double scale) {
    rows_[static_cast<std::size_t>(row)] = {std::move(number), scale};
  }
  /// The values [rows], once they are here. Throws Error(io) where the device could not make them.
  std::span<const double> wait() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].number == nullptr) continue;
      values_[i] = rows_[i].number->wait()[0] * rows_[i].scale;
      rows_[i].number.reset();
    }
    return values_;
  }

 private:
  struct Row {
    std::unique_ptr<LateNumbers> number;
    double scale = 1;
  };
  std::vector<Row> rows_;
  std::vector<double> values_;
};

}  // namespace stein::inference
