// What a sampler keeps for every coordinate of every particle.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/inference/storage/matrix_view.h>

#include <string>

namespace stein::inference {

/// Rows [M, Q] of a momentum, an average or a thermostat, zeroed, whole cache lines apart as those of `Particles` are:
/// the SIMD passes read and write whole vectors.
template <class Scalar>
class StateRows {
 public:
  StateRows() = default;  ///< no rows: the view has no data, and nothing is saved
  StateRows(std::int64_t rows, std::int64_t size)
      : rows_(rows), size_(size), stride_(padded_columns(size)), numbers_(static_cast<std::size_t>(rows * stride_)) {}

  bool empty() const { return numbers_.size() == 0; }
  MatrixView<Scalar> view() { return {numbers_.data(), rows_, size_, stride_}; }
  MatrixView<const Scalar> view() const { return {numbers_.data(), rows_, size_, stride_}; }

  void save(Snapshot& snapshot, const std::string& name) const {
    if (!empty()) snapshot.put(name, std::span<const Scalar>(numbers_.data(), numbers_.size()), {rows_, stride_});
  }
  /// Throws Error(data) if the saved rows have another shape.
  void restore(const Snapshot& snapshot, const std::string& name) {
    if (!empty()) snapshot.get(name, std::span<Scalar>(numbers_.data(), numbers_.size()));
  }

 private:
  std::int64_t rows_ = 0, size_ = 0, stride_ = 0;
  AlignedBuffer<Scalar> numbers_;
};

}  // namespace stein::inference
