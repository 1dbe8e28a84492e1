#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/training/weight_sampler.h>

#include <utility>

namespace stein::training {

WeightSampler::WeightSampler(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                             const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback)
    : WeightSampler(options, new inference::WatchedModel<float>(std::move(model)), data, seed, rollback) {}

WeightSampler::WeightSampler(const WeightMethodOptions& options, inference::WatchedModel<float>* watched,
                             const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback)
    : NetworkWeights(options, std::unique_ptr<inference::Model<float>>(watched), data, seed), watched_(*watched) {
  std::unique_ptr<inference::Sampler<float>> sampler =
      method().make_sampler(particles().ensemble(seed, method().posterior.arithmetic), data);
  if (kind() == MethodKind::chain) {
    auto& chain = dynamic_cast<inference::GradientSampler<float>&>(*sampler);
    temperature_ = chain.schedule().temperature_of_noise(0);
    if (method().temperature_every > 0) meter_.emplace(particles().layout());
    chain.observe_gradients([this, &chain](const inference::Particles<float>& now) {
      temperature_ = chain.schedule().temperature_of_noise(chain.steps());
      if (meter_ && steps_ % method().temperature_every == 0 && !exploring(steps_))
        meter_->add<float>(now.coordinates(), now.gradients(), posterior(), now.device());
    });
  }
  sampler_ =
      std::make_unique<inference::RollbackSampler<float>>(std::move(sampler), rollback, inference::AfterRollback::wait);
}

inference::StepReport WeightSampler::step(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_->step(particles(), posterior(), batch);
  if (report.went_back) forget_temperatures();
  if (report.taken) ++steps_;
  last_log_likelihood_ = watched_.last_log_likelihood() / batch.count();
  return report;
}

std::vector<inference::LayerTemperature::Reading> WeightSampler::temperatures() const {
  if (!meter_ || meter_->steps() == 0) return {};
  return meter_->readings();
}

void WeightSampler::forget_temperatures() {
  if (meter_) meter_.emplace(particles().layout());
}

std::vector<std::string> WeightSampler::warnings() const {
  std::vector<std::string> found;
  if (const auto rollback = sampler_->warning()) found.push_back(*rollback);
  if (meter_ && meter_->steps() > 0)
    if (const auto hot = meter_->warning(temperature_)) found.push_back(*hot);
  return found;
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
