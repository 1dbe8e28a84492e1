#include <stein/core/error.h>
#include <stein/policies/running_moments.h>

#include <cmath>

namespace stein::policies {

using inference::MatrixView;

RunningMoments::RunningMoments(std::int64_t columns)
    : mean_(static_cast<std::size_t>(columns)), squares_(static_cast<std::size_t>(columns)) {
  STEIN_CHECK(columns >= 1, "running moments: expected at least one column, got {}", columns);
}

void RunningMoments::add(MatrixView<const float> rows) {
  if (rows.rows == 0) return;
  const auto n = static_cast<double>(rows.rows), together = count_ + n;
  for (std::size_t k = 0; k < mean_.size(); ++k) {
    const auto column = static_cast<std::int64_t>(k);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < rows.rows; ++i) sum += double{rows(i, column)};
    const double mean = sum / n;
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      const double deviation = double{rows(i, column)} - mean;
      squares += deviation * deviation;
    }
    const double apart = mean - mean_[k];
    mean_[k] += apart * n / together;
    squares_[k] += squares + apart * apart * count_ * n / together;
  }
  count_ = together;
}

void RunningMoments::merge(const RunningMoments& other) {
  STEIN_CHECK(other.columns() == columns(), "running moments: expected {} columns, got {}", columns(), other.columns());
  if (other.count_ == 0) return;
  const double together = count_ + other.count_;
  for (std::size_t k = 0; k < mean_.size(); ++k) {
    const double apart = other.mean_[k] - mean_[k];
    mean_[k] += apart * other.count_ / together;
    squares_[k] += other.squares_[k] + apart * apart * count_ * other.count_ / together;
  }
  count_ = together;
}

double RunningMoments::variance(std::int64_t column) const {
  return count_ < 2 ? 1 : squares_[static_cast<std::size_t>(column)] / count_;
}

ColumnUnit RunningMoments::unit(std::int64_t column) const {
  return {.mean = static_cast<float>(mean(column)),
          .scale = static_cast<float>(1 / std::sqrt(variance(column) + 1e-8))};
}

void RunningMoments::normalise(MatrixView<const float> rows, MatrixView<float> to) const {
  for (std::int64_t k = 0; k < columns(); ++k) {
    const ColumnUnit unit = this->unit(k);
    for (std::int64_t i = 0; i < rows.rows; ++i) to(i, k) = unit(rows(i, k));
  }
}

void RunningMoments::save(Snapshot& snapshot) const {
  snapshot.put("count", count_);
  snapshot.put("mean", mean_);
  snapshot.put("squares", squares_);
}

void RunningMoments::restore(const Snapshot& snapshot) {
  count_ = snapshot.get_scalar<double>("count");
  snapshot.get("mean", std::span(mean_));
  snapshot.get("squares", std::span(squares_));
}

}  // namespace stein::policies
