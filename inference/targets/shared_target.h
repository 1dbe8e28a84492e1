// A target whose rows are evaluated by several ranks.
#pragma once

#include <stein/distributed/communicator.h>
#include <stein/inference/target.h>

#include <span>

namespace stein::inference {

/// Another target, of which every rank evaluates some rows of an ensemble that all of them hold; then each has all
/// gradients and values, to the bit those of the target itself. All of its calls that evaluate are collective.
///
/// What else an evaluation leaves, in the target or in what the batch points to, is there on the rank that made it
/// only. So this is for targets that keep nothing: no latents, no carried state, on the host.
template <class Scalar>
class SharedTarget final : public Target<Scalar> {
 public:
  /// Both must outlive this object.
  SharedTarget(Target<Scalar>& target, distributed::Communicator& ranks) : target_(target), ranks_(ranks) {}

  const Layout& layout() const override { return target_.layout(); }
  bool has_value(const Batch<Scalar>& batch) const override { return target_.has_value(batch); }
  /// @throws distributed::AgreedError where the target throws on any rank
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override;
  void adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
             MatrixView<Scalar> buffers) override {
    target_.adapt(coordinates, batch, noise, buffers);
  }
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override {
    return target_.free_coordinates(row);
  }
  void save(Snapshot& snapshot) const override { target_.save(snapshot); }
  void restore(const Snapshot& snapshot) override { target_.restore(snapshot); }

 private:
  Target<Scalar>& target_;
  distributed::Communicator& ranks_;
};

}  // namespace stein::inference
