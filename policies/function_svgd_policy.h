// Stein Thompson sampling with repulsion between what particles predict.
#pragma once

#include <stein/inference/targets/function_space_score.h>
#include <stein/policies/particle_policy.h>

namespace stein::policies {

/// Particles that climb together and push their predictions on the minibatch apart (FunctionSpaceScore), each moved by
/// the optimizer.
class FunctionSvgdPolicy final : public ParticlePolicy {
 public:
  /// The options of ParticlePolicy, and the kernel on predictions.
  struct Options : ParticlePolicy::Options {
    inference::SvgdKernelOptions kernel{};

    template <class V>
    void describe(V& v) {
      ParticlePolicy::Options::describe(v);
      kernel.describe(v);
    }
  };

  /// Arguments are those of ParticlePolicy. Throws Error(usage) for a linear kernel and for a noise precision that is
  /// learned with the weights.
  FunctionSvgdPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                     inference::Device device = {});

  /// 1: particles climb the log posterior itself.
  std::optional<double> temperature() const override { return 1; }

 protected:
  void shape(const InteractionBatch& interactions, inference::Batch<float>& batch) override;

 private:
  inference::FunctionSpaceScore score_;
  std::vector<float> predictions_, weights_;
};

}  // namespace stein::policies
