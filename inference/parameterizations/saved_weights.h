// Rows of weights in a checkpoint: without the padding that they have on one machine and not on another.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix.h>

#include <string_view>

namespace stein::inference {

/// Stores weights [m, P] of a layout as [m, numbers of its parameters].
template <class Scalar>
void save_weights(Snapshot& snapshot, std::string_view name, const Layout& layout, const Matrix<Scalar>& weights);

/// Reads them where the layout has the same parameters, whatever its padding, which becomes 0; on any device.
/// Checkpoints from before hold the padding of the machine that wrote them, and are read on machines that have the
/// same. Throws Error(data) naming the array if it has another size.
template <class Scalar>
void restore_weights(const Snapshot& snapshot, std::string_view name, const Layout& layout, Matrix<Scalar>& weights);

}  // namespace stein::inference
