#include <stein/core/error.h>
#include <stein/runs/repetitions.h>
#include <stein/training/epoch_trainer.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace stein::training {
namespace {

runs::Validation::Options validation_options(const EpochOptions& options, const EpochTrainer::Epoch& epoch) {
  STEIN_CHECK(options.patience == 0 || options.validations_per_epoch > 0,
              "patience = {} counts validations, and there are none: set validations_per_epoch", options.patience);
  if (options.validations_per_epoch == 0) return {};
  const std::int64_t steps = epoch.steps > 0 ? epoch.steps : epoch.data;
  return {.validate_every = std::max<std::int64_t>(1, steps / options.validations_per_epoch),
          .patience = options.patience};
}

/// The samples of a chain that goes through all epochs: so many an epoch of the steps behind the burn-in that do not
/// explore, or one where there are fewer steps than that.
inference::CollectorOptions collection(const EpochOptions& options, std::int64_t minibatches,
                                       const std::function<bool(std::int64_t)>& exploring) {
  const std::int64_t steps = options.epochs * minibatches;
  const auto burn_in = static_cast<std::int64_t>(options.burn_in * static_cast<double>(steps));
  std::int64_t sampling = 0;
  for (std::int64_t t = burn_in; t < steps; ++t) sampling += !exploring(t);
  STEIN_CHECK(sampling > 0,
              "none of {} updates gives a sample: the first {} are burn-in, and in the others the sampler explores or "
              "tunes; take "
              "more epochs, a shorter burn_in, or of a method with a warm-up a shorter one",
              steps, burn_in);
  const std::int64_t thinning = std::min(std::max<std::int64_t>(1, minibatches / options.samples_per_epoch), sampling);
  return {.burn_in = burn_in, .thinning = thinning, .samples = sampling / thinning};
}

/// Of what a reservoir saved; none where there was none.
std::int64_t stored_count(const Snapshot& reservoir) {
  return reservoir.contains("size") ? reservoir.get_scalar<std::int64_t>("size") : 0;
}

DataFacts facts_of(const EpochTrainer::Epoch& epoch) {
  return {.size = static_cast<double>(epoch.data),
          .sequence = epoch.sequence,
          .minibatches = static_cast<double>(epoch.minibatches)};
}

/// Pruning that is told no pace has set the last weight to zero where the first sample is taken.
WeightMethodOptions with_pace(WeightMethodOptions method, const EpochOptions& options,
                              const EpochTrainer::Epoch& epoch) {
  constexpr double never_seen = 1e-12;  // of a share of weights
  inference::PruningOptions& pruning = method.posterior.pruning;
  if (pruning.decay_steps == 0)
    pruning.decay_steps = options.burn_in * static_cast<double>(options.epochs * epoch.minibatches) *
                          std::log(pruning.decay) / std::log(never_seen);
  return method;
}

}  // namespace

EpochTrainer::EpochTrainer(const EpochOptions& options, const WeightMethodOptions& method,
                           std::unique_ptr<inference::Model<float>> model, const Epoch& epoch, std::uint64_t seed)
    : EpochTrainer(options, method, new inference::ChunkedModel<float>(std::move(model), options.gradient_chunks),
                   epoch, seed) {}

EpochTrainer::EpochTrainer(const EpochOptions& options, const WeightMethodOptions& method,
                           inference::ChunkedModel<float>* model, const Epoch& epoch, std::uint64_t seed)
    : ValidatedRepetition(validation_options(options, epoch), runs::Better::lower),
      options_(checked(options)),
      epoch_(epoch),
      seed_(seed),
      model_(*model),
      weights_(with_pace(method, options, epoch), std::unique_ptr<inference::Model<float>>(model), facts_of(epoch),
               seed) {
  STEIN_CHECK(options_.gradient_chunks <= options_.batch_size,
              "gradient_chunks={} are more than the {} rows of a minibatch (batch_size)", options_.gradient_chunks,
              options_.batch_size);
  if (method.kind != MethodKind::chain) return;
  const auto exploring = [this](std::int64_t t) { return weights_.exploring(t); };
  inference::CollectorOptions samples = collection(options_, epoch_.minibatches, exploring);
  collector_.emplace(samples, last_minibatch(), exploring);
  burn_in_ = samples.burn_in;
  samples.samples = std::min(samples.samples, options_.stored_samples);
  if (samples.samples > 0) store_collector_.emplace(samples, last_minibatch(), exploring);
}

double EpochTrainer::share_done() const {
  return static_cast<double>(minibatches_) / static_cast<double>(last_minibatch());
}

std::optional<std::string> EpochTrainer::warning() const {
  std::string text;
  for (const std::string& sentence : weights_.warnings()) text += (text.empty() ? "" : "\n") + sentence;
  if (text.empty()) return std::nullopt;
  return text;
}

bool EpochTrainer::share_with(distributed::Communicator& ranks) {
  // Whole trajectories where there is a chain for each rank; else the chunks of a minibatch, if it has some.
  distributed::Communicator& nobody = distributed::single_process();
  const bool enough_chains = weights_.particles().rows() >= ranks.size() || options_.gradient_chunks == 1;
  const bool shares_chains = weights_.share_chains(enough_chains ? ranks : nobody) && enough_chains;
  if (!shares_chains && !model_.can_be_shared(weights_.rows_at_a_time())) return false;
  distributed::Communicator& of_model = shares_chains ? nobody : ranks;
  const inference::Device device = model_.device();
  exchange_.reset();  // that of other ranks is left before these are joined
  exchange_ = std::make_unique<inference::PartExchange>(of_model, device, inference::join_devices(of_model, device));
  weights_.share_moves(of_model);
  return true;
}

void EpochTrainer::with_best(const std::function<void()>& look) {
  if (!has_best()) return;
  Snapshot last;
  weights_.save_weights(last);
  restore_best();
  look();
  weights_.restore_weights(last);
}

void EpochTrainer::store_samples_in(const std::filesystem::path& folder) {
  sample_folder_ = folder;
  if (!store_collector_) return;
  const bool goes_on = saved_stored_.contains("size");
  stored_.emplace(goes_on ? inference::SampleReservoir<float>::open(folder)
                          : inference::SampleReservoir<float>::create(folder));
  if (goes_on) stored_->restore(saved_stored_);
}

std::int64_t EpochTrainer::stored_samples() const {
  return stored_ ? stored_->size() : stored_count(saved_stored_);
}

void EpochTrainer::begin() {
  if (begun_ || !start_) return;
  training::begin_with(start_(), weights_, meaning());
  start_ = nullptr;
  begun_ = true;
  began();
}

void EpochTrainer::learn(std::int64_t until, const StopToken& stop, runs::Records& records) {
  begin();  // a rank that helps has no files to open, and nobody else has called it
  do take_minibatch(records);
  while (steps_done() < until && !out_of_data() && !stop.stop_requested());
  settle();
}

bool EpochTrainer::looks_behind_next() const {
  const std::int64_t next = minibatches_ + 1;
  return (collector_ && collector_->due()) || (store_collector_ && store_collector_->due()) ||
         runs::is_recorded(next) || next % epoch_.minibatches == 0;
}

void EpochTrainer::settle() {
  const auto start = std::chrono::steady_clock::now();
  const inference::StepReport report = weights_.settle(last_batch_);
  training_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!report.went_back) return add_loss(weights_.last_log_likelihood());
  open_loss_.reset();
  collect(report);
  stepped(report);
}

void EpochTrainer::add_loss(double log_likelihood) {
  if (open_loss_) loss_sum_ -= log_likelihood * *open_loss_, ++loss_count_;
  open_loss_.reset();
}

void EpochTrainer::take_minibatch(runs::Records& records) {
  const std::int64_t c = minibatches_ % epoch_.minibatches, epoch = minibatches_ / epoch_.minibatches;
  if (c == 0 && epoch >= options_.full_rate_epochs) weights_.scale_step_size(options_.rate_decay);
  const inference::Batch<float> batch = last_batch_ = minibatch(epoch, c);
  const bool looks = looks_behind_next();
  const auto start = std::chrono::steady_clock::now();
  inference::StepReport report = [&] {
    const auto shared = model_.shared_by(*exchange_);
    return weights_.step(batch);
  }();
  if (report.taken)
    add_loss(weights_.log_likelihood_before());
  else
    open_loss_.reset();
  if (looks) report = weights_.settled(report, batch);
  training_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++minibatches_;
  if (minibatches_ == burn_in_) weights_.forget_temperatures();
  const std::int64_t steps = steps_of(batch);
  seen_ += steps;
  collect(report);
  stepped(report);
  if (report.taken) open_loss_ = batch.count() / static_cast<double>(steps);
  if (report.settled) add_loss(weights_.last_log_likelihood());
  if (runs::is_recorded(minibatches_) && loss_count_ > 0) {
    records.number(steps_done(), "loss", loss_sum_ / static_cast<double>(loss_count_));
    loss_sum_ = 0, loss_count_ = 0;
  }
  if (minibatches_ % epoch_.minibatches != 0) return;
  if (epoch_.minibatches == 1 && !runs::is_recorded(minibatches_)) return;  // each epoch is one step, of very many
  if (weights_.kind() == MethodKind::variational) records.number(steps_done(), "divergence", divergence());
  end_epoch(records);
}

double EpochTrainer::divergence() {
  const auto step = static_cast<std::uint64_t>(minibatches_);
  return weights_.divergence({.seed = seed_, .step = step, .stream = Stream::parameterization}) /
         static_cast<double>(epoch_.data);
}

void EpochTrainer::collect(const inference::StepReport& report) {
  if (!collector_ || collector_->steps() >= last_minibatch()) return;
  if (store_collector_) {
    const inference::Collection now = store_collector_->take(report);
    if (stored_) stored_->drop_last(now.dropped);
    if (stored_ && now.keep) stored_->add(weights_.particles());
  }
  const inference::Collection now = collector_->take(report);
  if (now.dropped > 0) drop_samples(now.dropped * weights_.particles().rows());
  if (now.keep) take_sample();
}

void EpochTrainer::save_training(Snapshot& snapshot) const {
  Snapshot progress, stream;
  weights_.save_progress(progress);
  save_stream(stream);
  snapshot.put_part("progress", progress);
  snapshot.put_part("stream", stream);
  snapshot.put_part("meaning", meaning());
  const DataFacts facts = facts_of(epoch_);
  snapshot.put("facts", std::vector<double>{facts.size, facts.sequence, facts.minibatches});
  snapshot.put("done", std::vector<std::int64_t>{minibatches_, seen_, loss_count_});
  snapshot.put("loss", loss_sum_);
  if (begun_) snapshot.put("begun", std::uint8_t{1});
  if (collector_) snapshot.put_saved("collector", *collector_);
  if (store_collector_) snapshot.put_saved("store_collector", *store_collector_);
  if (stored_)
    snapshot.put_saved("stored", *stored_);
  else if (saved_stored_.contains("size"))
    snapshot.put_part("stored", saved_stored_);
}

void EpochTrainer::restore_training(const Snapshot& snapshot) {
  weights_.restore_progress(snapshot.part("progress"));
  restore_stream(snapshot.part("stream"));
  const auto done = snapshot.get_vector<std::int64_t>("done");
  if (done.size() != 3) fail(ErrorKind::data, "expected 3 counts of what was done, found {}", done.size());
  minibatches_ = done[0], seen_ = done[1], loss_count_ = done[2];
  loss_sum_ = snapshot.get_scalar<double>("loss");
  begun_ = snapshot.contains("begun");
  if (collector_) collector_->restore(snapshot.part("collector"));
  if (store_collector_) store_collector_->restore(snapshot.part("store_collector"));
  if (snapshot.contains("stored/size")) saved_stored_ = snapshot.part("stored");
}

EpochTrainer::Saved EpochTrainer::saved_in(const Snapshot& snapshot) {
  const Snapshot training = saved_training(snapshot);
  const auto facts = training.get_vector<double>("facts");
  if (facts.size() != 3) fail(ErrorKind::data, "expected 3 facts of the data, found {}", facts.size());
  return {.weights = saved_model(snapshot),
          .best = saved_best(snapshot),
          .meaning = training.part("meaning"),
          .facts = {.size = facts[0], .sequence = facts[1], .minibatches = facts[2]},
          .stored_samples = stored_count(training.part("stored"))};
}

}  // namespace stein::training
