// A target whose rows are evaluated by several ranks.
#pragma once

#include <stein/distributed/communicator.h>
#include <stein/inference/targets/forwarding_target.h>

namespace stein::inference {

/// Another target, of which every rank evaluates some rows of an ensemble that all of them hold; then each has all
/// gradients and values, to the bit those of the target itself. All of its calls that evaluate are collective.
///
/// What else an evaluation leaves, in the target or in what the batch points to, is there on the rank that made it
/// only. So this is for targets that keep nothing: no latents, no carried state, on the host.
template <class Scalar>
class SharedTarget final : public ForwardingTarget<Scalar> {
 public:
  /// Both must outlive this object.
  SharedTarget(Target<Scalar>& target, distributed::Communicator& ranks)
      : ForwardingTarget<Scalar>(target), ranks_(ranks) {}

  /// @throws distributed::AgreedError where the target throws on any rank
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override;

 private:
  distributed::Communicator& ranks_;
};

}  // namespace stein::inference
