#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/stein_move.h>
#include <stein/inference/samplers/svgd.h>

namespace stein::inference {
namespace {

const bool registered = register_sampler<Svgd<float>>(
    "svgd", "Stein variational gradient descent: particles climb together and push one another apart");

}  // namespace

template <class Scalar>
Svgd<Scalar>::Svgd(const Options& options, const Ensemble& ensemble)
    : GradientSampler<Scalar>(Schedule(options.optimizer.step), options.optimizer.clip, ensemble),
      state_(options.optimizer, ensemble),
      device_(ensemble.device),
      kernel_options_(checked(options.kernel)),
      distances_(static_cast<std::size_t>(ensemble.rows.count * ensemble.rows.count)) {}

template <class Scalar>
bool Svgd<Scalar>::move(Particles<Scalar>& particles, const Batch<Scalar>&) {
  const std::int64_t t = this->steps();
  const OptimizerStep step = state_.step(t, this->schedule().step_size(t));
  return this->driver().stein_move({.kernel = kernel_options_,
                                    .values = particles.values(),
                                    .gradients = particles.gradients(),
                                    .state = state_,
                                    .step = step,
                                    .weights = weights_,
                                    .distances = distances_,
                                    .watch = this->watch(),
                                    .ranks = *ranks_});
}

template <class Scalar>
void Svgd<Scalar>::share_moves(distributed::Communicator& ranks) {
  const bool pays = device_ == Device{} && this->rows() >= least_shared;
  ranks_ = pays ? &ranks : &distributed::single_process();
}

template <class Scalar>
void Svgd<Scalar>::bring_together() {
  if (ranks_->size() == 1) return;
  const auto kept = [](MatrixView<Scalar> rows) {  // nothing where the method keeps none
    return [rows](std::int64_t i) { return rows.data != nullptr ? rows.row(i) : std::span<Scalar>(); };
  };
  distributed::shared_for(
      *ranks_, this->rows(), [](std::int64_t) {}, kept(state_.mean()), kept(state_.square()));
}

template <class Scalar>
void Svgd<Scalar>::save(Snapshot& snapshot) const {
  GradientSampler<Scalar>::save(snapshot);
  state_.save(snapshot);
}

template <class Scalar>
void Svgd<Scalar>::restore(const Snapshot& snapshot) {
  GradientSampler<Scalar>::restore(snapshot);
  state_.restore(snapshot);
}

template class Svgd<float>;
template class Svgd<double>;

}  // namespace stein::inference
