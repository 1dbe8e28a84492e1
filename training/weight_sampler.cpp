#include <stein/training/weight_sampler.h>

#include <fmt/format.h>
#include <stein/distributed/exchange.h>

#include <utility>

namespace stein::training {
namespace {

/// What the last rank has seen, which moves the last chain.
inference::SeenLogLikelihood seen_by_last(distributed::Communicator& ranks, const inference::SeenLogLikelihood& own) {
  double value = own.value();
  std::string bytes;
  distributed::write_numbers(std::span(&value, 1), bytes);
  std::vector<std::string> all;
  distributed::exchange(ranks, std::nullopt, bytes, all);
  std::string_view last = all.back();
  distributed::read_numbers(last, std::span(&value, 1));
  return inference::SeenLogLikelihood(value);
}

}  // namespace

WeightSampler::WeightSampler(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                             const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback)
    : WeightSampler(options, new inference::WatchedModel<float>(std::move(model)), data, seed, rollback) {}

WeightSampler::WeightSampler(const WeightMethodOptions& options, inference::WatchedModel<float>* watched,
                             const DataFacts& data, std::uint64_t seed, const inference::RollbackOptions& rollback)
    : NetworkWeights(options, std::unique_ptr<inference::Model<float>>(watched), data, seed), watched_(*watched) {
  std::unique_ptr<inference::Sampler<float>> sampler =
      method().make_sampler(particles().ensemble(seed, method().posterior.arithmetic), data);
  if (kind() == MethodKind::chain && !method().takes_all_data) {
    auto& chain = dynamic_cast<inference::GradientSampler<float>&>(*sampler);
    temperature_ = chain.schedule().temperature_of_noise(0);
    if (method().temperature_every > 0) meter_.emplace(particles().layout());
    chain_ = &chain;
    if (meter_)
      chain.observe_gradients(
          [this](const inference::Particles<float>& now) {
            meter_->add<float>(now.coordinates(), now.gradients(), posterior(), now.device());
          },
          [this](std::int64_t) { return steps_ % method().temperature_every == 0 && !exploring(steps_); });
  }
  trajectories_ = dynamic_cast<inference::HamiltonianSampler<float>*>(sampler.get());
  sampler_ =
      std::make_unique<inference::RollbackSampler<float>>(std::move(sampler), rollback, inference::AfterRollback::wait);
}

inference::StepReport WeightSampler::step(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_->step(particles(), posterior(), batch);
  if (report.went_back) forget_temperatures();
  if (!report.taken) return report;
  ++steps_;
  if (chain_ != nullptr) temperature_ = chain_->schedule().temperature_of_noise(chain_->steps() - 1);
  const bool shared = trajectories_ != nullptr && trajectories_->ranks().size() > 1;
  before_ = std::exchange(
      last_, {shared ? seen_by_last(trajectories_->ranks(), watched_.last()) : watched_.last(), batch.count()});
  return report;
}

bool WeightSampler::share_chains(distributed::Communicator& ranks) {
  if (trajectories_ == nullptr || particles().rows() == 1) return false;
  trajectories_->share_with(ranks);
  return true;
}

inference::StepReport WeightSampler::settled(inference::StepReport report, const inference::Batch<float>& batch) {
  if (report.settled) return report;
  const inference::StepReport since = settle(batch);
  report.settled = true;
  if (!since.went_back) return report;
  --steps_, last_ = before_;
  report.accepted = report.taken = false;
  report.went_back = true, report.lost_steps = since.lost_steps - 1;
  return report;
}

inference::StepReport WeightSampler::settle(const inference::Batch<float>& batch) {
  const inference::StepReport report = sampler_->settle(particles(), posterior(), batch);
  if (report.went_back) forget_temperatures();
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
  if (trajectories_ == nullptr) return found;
  if (const std::int64_t diverged = trajectories_->divergences(); diverged > 0)
    found.push_back(fmt::format(
        "{} of the trajectories behind the warm-up diverged, so the samples miss a part of the posterior: a "
        "longer warm_up, or a target_acceptance nearer to 1, may help",
        diverged));
  constexpr double nearly_none = 0.1;
  if (const double acceptance = trajectories_->acceptance(); acceptance < nearly_none)
    found.push_back(
        fmt::format("{:.2g} % of the trajectories behind the warm-up were accepted: a smaller step_size, or "
                    "a longer warm_up, which tunes it, may help",
                    100 * acceptance));
  return found;
}

void WeightSampler::save_progress(Snapshot& snapshot) const {
  snapshot.put_saved("sampler", *sampler_);
  snapshot.put("updates", steps_);
  snapshot.put("temperature", temperature_);
  snapshot.put("log_likelihood", last_log_likelihood());
  if (!meter_) return;
  snapshot.put_saved("meter", *meter_);
}

void WeightSampler::restore_progress(const Snapshot& snapshot) {
  sampler_->restore(snapshot.part("sampler"));
  steps_ = snapshot.get_scalar<std::int64_t>("updates");
  temperature_ = snapshot.get_scalar<double>("temperature");
  last_ = {.all = inference::SeenLogLikelihood(snapshot.get_scalar<double>("log_likelihood"))};
  if (meter_) meter_->restore(snapshot.part("meter"));
}

}  // namespace stein::training
