// State that a recurrent model carries from one minibatch to the next.
#pragma once

#include <stein/core/error.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/host_copy.h>

namespace stein::inference {

/// Some rows of carried state, one a row of weights: what a minibatch starts from, and where an evaluation leaves what
/// the next one starts from. Rows of `after` may be empty: what it would be is not asked for.
template <class Scalar>
struct CarriedRows {
  MatrixView<Scalar> before{};  ///< [m·S, C]
  MatrixView<Scalar> after{};   ///< [m·S, C]
  Device device{};              ///< where both lie: the host, or where the model's weights do

  bool empty() const { return before.data == nullptr; }
  /// Throws Error(usage) unless it is empty or has `rows` rows of `size` numbers, `after` too if there is one.
  void check(std::int64_t rows, std::int64_t size) const {
    for (const MatrixView<Scalar>& view : {before, after})
      STEIN_CHECK(view.data == nullptr || (view.rows == rows && view.columns == size),
                  "carried state: expected [{}, {}], one row a row of weights, got [{}, {}]", rows, size, view.rows,
                  view.columns);
  }
  CarriedRows block(std::int64_t first, std::int64_t count) const {
    CarriedRows part{.device = device};
    if (before.data != nullptr) part.before = before.block(first, count);
    if (after.data != nullptr) part.after = after.block(first, count);
    return part;
  }
  /// Stores `before` as "carried".
  void save(Snapshot& snapshot) const {
    if (device.kind == Device::Kind::host)
      save_rows<Scalar>(snapshot, "carried", before);
    else
      host_copy<Scalar>(before, device).save(snapshot, "carried");
  }
  /// Throws Error(data) if the saved state has another size.
  void restore(const Snapshot& snapshot) const {
    if (device.kind == Device::Kind::host) return restore_rows(snapshot, "carried", before);
    Matrix<Scalar> saved(before.rows, before.columns);
    saved.restore(snapshot, "carried");
    copy_rows<Scalar>(saved.to(device).view(), before, device);
  }
  /// What the evaluation left is what the next minibatch starts from.
  void accept() const {
    if (before.data != nullptr && after.data != nullptr) copy_rows<Scalar>(after, before, device);
  }
};

/// The state of a stream of minibatches: h and c of an LSTM for every sequence, as C numbers for every row of weights.
/// Whoever draws the minibatches owns it, gives its rows to each of them, and saves it. Target::adapt moves it on, so
/// that only steps that were accepted do; after a prediction its owner does.
template <class Scalar>
class CarriedState {
 public:
  /// Nothing is known yet: zeros. @param size  C, what `Model::carried_size` says of the inputs
  CarriedState(std::int64_t rows, std::int64_t size, Device device = {})
      : before_(rows, size, device), after_(rows, size, device) {
    STEIN_CHECK(rows >= 1 && size >= 1, "carried state: expected at least one row of at least one number, got [{}, {}]",
                rows, size);
  }

  CarriedRows<Scalar> rows() { return {before_.view(), after_.view(), before_.device()}; }
  /// Forgets everything: the start of another text.
  void reset() {
    for (Matrix<Scalar>* each : {&before_, &after_}) each->fill(Scalar{0});
  }
  void save(Snapshot& snapshot) const { before_.save(snapshot, "carried"); }
  /// Throws Error(data) if the saved state has another shape.
  void restore(const Snapshot& snapshot) { before_.restore(snapshot, "carried"); }

 private:
  Matrix<Scalar> before_, after_;
};

}  // namespace stein::inference
