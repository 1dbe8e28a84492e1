#include <stein/inference/samplers/hmc.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <algorithm>

namespace stein::inference {
namespace {

const bool registered =
    register_sampler<Hmc<float>>("hmc", "Hamiltonian Monte Carlo on the full data, with a Metropolis test");

/// L leapfrog steps, taken or left as a whole.
template <class Scalar>
class HmcWalker final : public Walker<Scalar> {
 public:
  HmcWalker(std::int64_t leapfrog_steps, std::int64_t size) : leapfrog_steps_(leapfrog_steps), proposal_(size) {}

  Trajectory move(const Hamiltonian<Scalar>& hamiltonian, double step_size, Draws& draws,
                  PhasePoint<Scalar>& point) override {
    hamiltonian.draw_momentum(point, [&] { return draws.normal(); });
    proposal_ = point;
    for (std::int64_t l = 0; l < leapfrog_steps_; ++l) hamiltonian.leapfrog(proposal_, step_size);
    const double gain = hamiltonian.log_joint(proposal_) - hamiltonian.log_joint(point);
    Trajectory trajectory{
        .acceptance = std::min(1.0, std::exp(gain)), .divergent = !(gain > -1000), .gradients = leapfrog_steps_};
    trajectory.accepted = draws.uniform() < trajectory.acceptance;
    if (trajectory.accepted) std::swap(point, proposal_);
    return trajectory;
  }

 private:
  std::int64_t leapfrog_steps_;
  PhasePoint<Scalar> proposal_;
};

}  // namespace

template <class Scalar>
Hmc<Scalar>::Hmc(const Options& options, const Ensemble& ensemble)
    : HamiltonianSampler<Scalar>(options.trajectory, ensemble), leapfrog_steps_(checked(options).leapfrog_steps) {}

template <class Scalar>
std::unique_ptr<Walker<Scalar>> Hmc<Scalar>::make_walker() const {
  return std::make_unique<HmcWalker<Scalar>>(leapfrog_steps_, this->size());
}

template class Hmc<float>;
template class Hmc<double>;

}  // namespace stein::inference
