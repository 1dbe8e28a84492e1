#include <stein/policies/bootstrap_policy.h>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<BootstrapPolicy>(
    "bootstrap", "particles that each learn from a bootstrapped history of their own", [] {
      auto options = plain_particle_defaults<BootstrapPolicy::Options>("optimizer");
      options.draw = {.draw = Draw::some, .drawn_particles = options.particles / 2};
      return options;
    }());

}  // namespace

BootstrapPolicy::BootstrapPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                                 inference::Device device)
    : ParticlePolicy(options, spec, seed, device), counts_(seed, options.particles) {}

void BootstrapPolicy::shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  ParticlePolicy::shape(interactions, batch);
  if (!batch.weights_per_particle) counts_.apply(interactions, batch);  // anchors of clicks have them already
}

}  // namespace stein::policies
