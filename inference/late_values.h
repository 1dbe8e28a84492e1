// Values of an evaluation that a device still makes while its host goes on.
#pragma once

#include <stein/inference/storage/late_numbers.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace stein::inference {

/// The values of some rows, on their way home one by one or several together.
class LateValues {
 public:
  /// @param rows  each of which is put once
  explicit LateValues(std::int64_t rows) : rows_(static_cast<std::size_t>(rows)), values_(rows_.size()) {}

  /// The value of a row is `scale` times the one number that is on its way.
  void put(std::int64_t row, std::unique_ptr<LateNumbers> number, double scale) {
    rows_[static_cast<std::size_t>(row)] = {std::move(number), scale};
  }
  /// Values of `count` rows from `first` on come together: that of the row i is Σ numbers[step · (t · count + i)] over
  /// t = 0, …, terms − 1.
  void put_sums(std::int64_t first, std::int64_t count, std::unique_ptr<LateNumbers> numbers, std::int64_t terms,
                std::int64_t step) {
    sums_.push_back({std::move(numbers), first, count, terms, step});
  }
  /// The values [rows], once they are here. Throws Error(io) where the device could not make them.
  std::span<const double> wait() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].number == nullptr) continue;
      values_[i] = rows_[i].number->wait()[0] * rows_[i].scale;
      rows_[i].number.reset();
    }
    for (const Sums& sums : sums_) {
      const std::span<const double> numbers = sums.numbers->wait();
      for (std::int64_t i = 0; i < sums.count; ++i) {
        double& value = values_[static_cast<std::size_t>(sums.first + i)];
        value = 0;
        for (std::int64_t t = 0; t < sums.terms; ++t)
          value += numbers[static_cast<std::size_t>(sums.step * (t * sums.count + i))];
      }
    }
    sums_.clear();
    return values_;
  }

 private:
  struct Row {
    std::unique_ptr<LateNumbers> number;
    double scale = 1;
  };
  struct Sums {
    std::unique_ptr<LateNumbers> numbers;
    std::int64_t first, count, terms, step;
  };
  std::vector<Row> rows_;
  std::vector<Sums> sums_;
  std::vector<double> values_;
};

}  // namespace stein::inference
