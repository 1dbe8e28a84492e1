// Mean and variance of rows of numbers that come in batches.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/matrix_view.h>
#include <stein/policies/column_unit.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace stein::policies {

/// Mean and variance of every column of all rows seen so far, merged batch by batch (Chan, Golub & LeVeque 1979); what
/// observations and rewards are normalised with.
class RunningMoments {
 public:
  explicit RunningMoments(std::int64_t columns);

  void add(inference::MatrixView<const float> rows);
  /// Adds the rows that another has seen: what shards of one stream put together. Throws Error(usage) for other
  /// columns.
  void merge(const RunningMoments& other);
  /// (x − mean)/√(variance + 1e-8), limited to ±10; before the first rows x itself, so limited.
  void normalise(inference::MatrixView<const float> rows, inference::MatrixView<float> to) const;

  std::int64_t columns() const { return static_cast<std::int64_t>(mean_.size()); }
  double count() const { return count_; }
  double mean(std::int64_t column) const { return mean_[static_cast<std::size_t>(column)]; }
  /// Variance of a column over all rows so far, divided by their number; 1 before there are two rows.
  double variance(std::int64_t column) const;
  /// What `normalise` does to the numbers of a column.
  ColumnUnit unit(std::int64_t column) const;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;  ///< [columns] means, and sums of squared deviations
};

}  // namespace stein::policies
