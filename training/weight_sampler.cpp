#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/training/weight_sampler.h>

#include <algorithm>
#include <numbers>

namespace stein::training {
namespace {

WeightMethodOptions with_facts(WeightMethodOptions options, const DataFacts& data, inference::Device device) {
  options.check_device(device);
  options.posterior.sharpening.minibatches = std::max(data.minibatches, 1.0);
  return checked(options);
}

}  // namespace

WeightSampler::WeightSampler(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                             const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback)
    : options_(with_facts(options, data, model->device())),
      watched_(new inference::WatchedModel<float>(std::move(model))),
      posterior_(
          inference::make_network_posterior(options_.posterior, std::unique_ptr<inference::Model<float>>(watched_))),
      particles_(posterior_->initial_particles(options_.particles, seed, /*spread=*/1)) {
  std::unique_ptr<inference::Sampler<float>> sampler =
      options_.make_sampler(particles_.ensemble(seed, options_.posterior.arithmetic), data);
  if (options_.kind == MethodKind::chain) {
    auto& chain = dynamic_cast<inference::GradientSampler<float>&>(*sampler);
    temperature_ = chain.schedule().temperature(0);
    if (options_.temperature_every > 0) meter_.emplace(particles_.layout());
    chain.observe_gradients([this, &chain](const inference::Particles<float>& particles) {
      temperature_ = chain.schedule().temperature(chain.steps());
      if (meter_ && steps_ % options_.temperature_every == 0 && !exploring(steps_))
        meter_->add<float>(particles.coordinates(), particles.gradients(), *posterior_, particles.device());
    });
  }
  sampler_ =
      std::make_unique<inference::RollbackSampler<float>>(std::move(sampler), rollback, inference::AfterRollback::wait);
  if (options_.outer_deviation != 1) widen_outer_weights();
}

void WeightSampler::widen_outer_weights() {
  for (const inference::LayoutEntry& entry : particles_.layout().entries()) {
    if (entry.role != inference::Role::log_deviation || inference::in_recurrent_layer(entry.name)) continue;
    for (std::int64_t i = 0; i < particles_.rows(); ++i)
      for (float& rho : particles_.values().row(i).subspan(static_cast<std::size_t>(entry.offset),
                                                           static_cast<std::size_t>(entry.size())))
        rho = static_cast<float>(
            inference::inverse_softplus(options_.outer_deviation * inference::softplus(double{rho})));
  }
}

inference::StepReport WeightSampler::step(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_->step(particles_, *posterior_, batch);
  if (report.went_back) forget_temperatures();
  if (report.taken) ++steps_;
  last_log_likelihood_ = watched_->last_log_likelihood() / batch.count();
  return report;
}

inference::MatrixView<const float> WeightSampler::draw_weights(const NoiseKey& key, inference::Matrix<float>& memory) {
  inference::ParticleRows<const float> rows = particles_.coordinates();
  // A training step draws with the rows of the particles: draws for predictions are of other rows.
  if (options_.kind == MethodKind::variational) rows.first_row += particles_.total_rows();
  return posterior_->weights_of(rows, key, memory);
}

inference::MatrixView<const float> WeightSampler::mean_weights(inference::Matrix<float>& memory) {
  const auto* const family = dynamic_cast<const inference::VariationalFamily<float>*>(&posterior_->parameterization());
  STEIN_CHECK(family != nullptr, "only a variational method has a mean of its weights");
  if (memory.rows() != particles_.rows() || memory.columns() != weight_count())
    memory = inference::Matrix<float>(particles_.rows(), weight_count());
  family->mean_weights(particles_.values(), memory.view());
  return memory.view();
}

std::vector<inference::LayerTemperature::Reading> WeightSampler::temperatures() const {
  if (!meter_ || meter_->steps() == 0) return {};
  return meter_->readings();
}

void WeightSampler::forget_temperatures() {
  if (meter_) meter_.emplace(particles_.layout());
}

std::vector<std::string> WeightSampler::warnings() const {
  std::vector<std::string> found;
  if (const auto rollback = sampler_->warning()) found.push_back(*rollback);
  if (meter_ && meter_->steps() > 0)
    if (const auto hot = meter_->warning(temperature_)) found.push_back(*hot);
  return found;
}

void WeightSampler::save_weights(Snapshot& snapshot) const {
  snapshot.put_saved("particles", particles_);
  snapshot.put_saved("target", *posterior_);
}

void WeightSampler::restore_weights(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  posterior_->restore(snapshot.part("target"));
}

void WeightSampler::save_progress(Snapshot& snapshot) const {
  snapshot.put_saved("sampler", *sampler_);
  snapshot.put("updates", steps_);
  snapshot.put("temperature", temperature_);
  snapshot.put("log_likelihood", last_log_likelihood_);
  if (!meter_) return;
  snapshot.put_saved("meter", *meter_);
}

void WeightSampler::restore_progress(const Snapshot& snapshot) {
  sampler_->restore(snapshot.part("sampler"));
  steps_ = snapshot.get_scalar<std::int64_t>("updates");
  temperature_ = snapshot.get_scalar<double>("temperature");
  last_log_likelihood_ = snapshot.get_scalar<double>("log_likelihood");
  if (meter_) meter_->restore(snapshot.part("meter"));
}

}  // namespace stein::training
