// A target whose rows are evaluated by several ranks.
#pragma once

#include <stein/inference/models/part_exchange.h>
#include <stein/inference/targets/forwarding_target.h>

namespace stein::inference {

/// Another target, of which every rank evaluates some rows of an ensemble that all of them hold; then each has all
/// gradients and values, to the bit those of the target itself. All of its calls that evaluate are collective.
///
/// What else an evaluation leaves, in the target or in what the batch points to, is there on the rank that made it
/// only. So this is for targets that keep nothing: no latents, no carried state.
template <class Scalar>
class SharedTarget final : public ForwardingTarget<Scalar> {
 public:
  /// Both must outlive this object.
  /// @param exchange  of the device where the target is
  SharedTarget(Target<Scalar>& target, PartExchange& exchange)
      : ForwardingTarget<Scalar>(target), exchange_(exchange) {}

  /// @throws distributed::AgreedError where the target throws on any rank; Error(io), on one rank alone, where its
  ///         device refuses
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override;

 private:
  PartExchange& exchange_;
};

}  // namespace stein::inference
