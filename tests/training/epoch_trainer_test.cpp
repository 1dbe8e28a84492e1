// The loop of all trainers on a Gaussian's mean, where every step is a formula: order, rates, samples, checkpoints.
#include <stein/core/checkpoint.h>
#include <stein/training/epoch_trainer.h>
#include <stein/training/weight_draws.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "distributed/thread_ranks.h"
#include "training/mean_model.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

constexpr std::int64_t minibatches = 8;

/// Sees one datum a minibatch: minibatch c of every epoch is y = c + 1 for both weights, or no number where it is
/// broken. A sample is the first weight.
class MeanTrainer final : public EpochTrainer {
 public:
  MeanTrainer(const EpochOptions& options, const WeightMethodOptions& method, std::set<std::int64_t> broken = {},
              std::unique_ptr<inference::Model<float>> model = std::make_unique<test::MeanModel>())
      : EpochTrainer(options, method, std::move(model), {.minibatches = minibatches, .data = 8}, 4),
        broken_(std::move(broken)) {}

  float weight() const { return weights().particles().values()(0, 0); }

  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  std::vector<float> samples;
  std::vector<std::int64_t> sampled_at;  ///< minibatches that were seen before each
  std::int64_t steps = 0, went_back = 0, dropped = 0;

 private:
  Snapshot meaning() const override {
    Snapshot meaning;
    meaning.put_text("unit", "metres");
    return meaning;
  }
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override {
    order.emplace_back(epoch, c);
    const bool is_broken = broken_.contains(epoch * minibatches + c);
    y_.assign(2, is_broken ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(c + 1));
    return test::datum(y_, 8);
  }
  void stepped(const inference::StepReport& report) override { ++steps, went_back += report.went_back ? 1 : 0; }
  void take_sample() override {
    samples.push_back(weight());
    sampled_at.push_back(std::ssize(order));
  }
  void drop_samples(std::int64_t count) override {
    dropped += count;
    samples.resize(samples.size() - static_cast<std::size_t>(count));
  }
  double validate() override { return std::abs(double{weight()} - 3); }
  void save_stream(Snapshot& snapshot) const override { snapshot.put("samples", samples); }
  void restore_stream(const Snapshot& snapshot) override { samples = snapshot.get_vector<float>("samples"); }

  std::set<std::int64_t> broken_;
  std::vector<float> y_;
};

/// A method whose step without noise is w ← w + rate (y − w).
WeightMethodOptions plain(const std::string& name, test::Settings settings = {}) {
  settings["rate_unit"] = "datum";
  if (!settings.contains("step_size")) settings["step_size"] = "0.5";
  if (name == "sgld") settings["temperature"] = "0";
  WeightMethodOptions method = test::method_with(name, settings);
  method.posterior.flat_prior = true;
  return method;
}

/// What the weight is after each minibatch, at rates that are those of its epoch.
std::vector<double> weights_of(std::int64_t epochs, const std::function<double(std::int64_t epoch)>& rate) {
  std::vector<double> found;
  double w = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (std::int64_t c = 0; c < minibatches; ++c) found.push_back(w += rate(epoch) * (static_cast<double>(c + 1) - w));
  return found;
}

runs::Records train_epochs(EpochTrainer& trainer, std::int64_t until = 1'000'000) {
  runs::Records records(false);
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
  return records;
}

TEST_CASE("epochs go through all minibatches in order, and a step of the run is a datum", "[training][trainer]") {
  MeanTrainer trainer({.epochs = 3}, plain("sgd"));
  CHECK(trainer.share_done() == 0);
  train_epochs(trainer, 6);
  CHECK(trainer.steps_done() == 6);
  CHECK(trainer.share_done() == 6.0 / 24);
  CHECK_FALSE(trainer.ended());
  train_epochs(trainer);
  CHECK(trainer.ended());
  CHECK(trainer.steps_done() == 24);
  CHECK(trainer.share_done() == 1);
  CHECK(trainer.steps == 24);
  std::vector<std::pair<std::int64_t, std::int64_t>> expected;
  for (std::int64_t k = 0; k < 24; ++k) expected.emplace_back(k / 8, k % 8);
  CHECK(trainer.order == expected);
  CHECK(trainer.weight() == Approx(weights_of(3, [](std::int64_t) { return 0.5; }).back()).epsilon(1e-6));
  CHECK(trainer.seed() == 4);
}

TEST_CASE("the loss that is recorded is the mean of −log p since the last record, at the weights before each step",
          "[training][trainer]") {
  MeanTrainer trainer({.epochs = 1, .validations_per_epoch = 0}, plain("sgd"));
  const runs::Records records = train_epochs(trainer);
  const std::vector<double> w = weights_of(1, [](std::int64_t) { return 0.5; });
  REQUIRE(records.numbers().size() == 8);  // every one of the first steps is recorded
  for (std::size_t k = 0; k < 8; ++k) {
    const double apart = static_cast<double>(k + 1) - (k == 0 ? 0 : w[k - 1]);
    CHECK(records.numbers()[k].step == static_cast<std::int64_t>(k + 1));
    CHECK(records.numbers()[k].tag == "loss");
    CHECK(records.numbers()[k].value == Approx(apart * apart).epsilon(1e-6));  // two weights, ½ each
  }
}

TEST_CASE("a loss of several minibatches is recorded whole where a training went on between them",
          "[training][trainer][resume]") {
  const EpochOptions options{.epochs = 20, .validations_per_epoch = 0};
  const WeightMethodOptions method = plain("sgd");
  MeanTrainer whole(options, method), first(options, method), second(options, method);
  const auto later = [](const runs::Records& records) {
    std::map<std::int64_t, double> found;
    for (const auto& number : records.numbers())
      if (number.step > 133) found[number.step] = number.value;
    return found;
  };
  const std::map<std::int64_t, double> expected = later(train_epochs(whole));
  REQUIRE(expected.size() == 14);  // from the 128th on every second one: 134, 136, …, 160
  train_epochs(first, 133);
  Snapshot state;
  first.save(state);
  second.restore(state);
  CHECK(later(train_epochs(second)) == expected);
}

TEST_CASE("the rate falls at the start of each epoch after those at the full rate", "[training][trainer]") {
  for (const std::int64_t full : {1, 2, 3}) {
    CAPTURE(full);
    MeanTrainer trainer({.epochs = 4, .rate_decay = 0.5, .full_rate_epochs = full}, plain("sgd"));
    train_epochs(trainer);
    const auto rate = [full](std::int64_t epoch) {  // counted from 0
      return 0.5 * std::pow(0.5, static_cast<double>(std::max<std::int64_t>(0, epoch - full + 1)));
    };
    CHECK(trainer.weight() == Approx(weights_of(4, rate).back()).epsilon(1e-5));
  }
}

TEST_CASE("a chain's samples come after the burn-in, so many an epoch, and those stored are evenly spread among them",
          "[training][trainer]") {
  const test::TemporaryDirectory folder;
  // 32 minibatches less 8 of burn-in, one sample every 8/2: after 12, 16, … 32. Of six, three are stored: each second.
  MeanTrainer trainer({.epochs = 4, .burn_in = 0.25, .samples_per_epoch = 2, .stored_samples = 3}, plain("sgld"));
  trainer.store_samples_in(folder / "samples");
  CHECK(trainer.stored_samples() == 0);
  train_epochs(trainer);
  CHECK(trainer.sampled_at == std::vector<std::int64_t>{12, 16, 20, 24, 28, 32});
  const std::vector<double> w = weights_of(4, [](std::int64_t) { return 0.5; });
  for (std::size_t k = 0; k < 6; ++k)
    CHECK(trainer.samples[k] == Approx(w[static_cast<std::size_t>(trainer.sampled_at[k] - 1)]).epsilon(1e-6));
  REQUIRE(trainer.stored_samples() == 3);
  WeightDraws draws(trainer.weights(), {}, folder / "samples", 3);
  for (std::int64_t k = 0; k < 3; ++k)
    CHECK(draws.get(k).weights.values(0, 0) == trainer.samples[static_cast<std::size_t>(2 * k + 1)]);
}

TEST_CASE("the meter reads the temperature of the chain behind its burn-in", "[training][trainer]") {
  MeanTrainer trainer({.epochs = 3, .burn_in = 0.5}, plain("sgld", {{"temperature_every", "1"}}));
  train_epochs(trainer);
  const std::vector<double> w = weights_of(3, [](std::int64_t) { return 0.5; });
  double sum = 0;  // of w ∇U with ∇U = 8 (w − y), before the steps 12 … 23
  for (std::size_t t = 12; t < 24; ++t) sum += w[t - 1] * 8 * (w[t - 1] - static_cast<double>(t % 8 + 1));
  const auto found = trainer.weights().temperatures();
  REQUIRE(found.size() == 2);
  CHECK(found[0].mean == Approx(sum / 12).epsilon(1e-5));
}

TEST_CASE("methods that are no chain have no samples, and none are stored where none are asked for",
          "[training][trainer]") {
  const test::TemporaryDirectory folder;
  MeanTrainer optimizer({.epochs = 2}, plain("sgd"));
  optimizer.store_samples_in(folder / "optimizer");
  train_epochs(optimizer);
  CHECK(optimizer.samples.empty());
  CHECK(optimizer.stored_samples() == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "optimizer"));
  MeanTrainer chain({.epochs = 2, .burn_in = 0, .samples_per_epoch = 8, .stored_samples = 0}, plain("sgld"));
  chain.store_samples_in(folder / "chain");
  train_epochs(chain);
  CHECK(chain.samples.size() == 16);
  CHECK(chain.stored_samples() == 0);
}

TEST_CASE("where a chain goes back, samples of the lost steps are dropped, the stored ones too",
          "[training][trainer]") {
  const test::TemporaryDirectory folder;
  // Samples after 4, 8, 12, 16, …; minibatch 18 is broken, so all 18 steps are lost and four samples with them. The
  // 13 minibatches that are left begin anew at half of the rate: samples after 4, 8 and 12 of their steps.
  MeanTrainer trainer({.epochs = 4, .burn_in = 0, .samples_per_epoch = 2, .stored_samples = 8}, plain("sgld"), {18});
  trainer.store_samples_in(folder / "samples");
  train_epochs(trainer);
  CHECK(trainer.ended());
  CHECK(trainer.went_back == 1);
  CHECK(trainer.dropped == 4);
  CHECK(trainer.samples.size() == 3);
  CHECK(trainer.stored_samples() == 3);
  double w = 0;
  for (std::int64_t k = 19; k < 19 + 12; ++k) w += 0.25 * (static_cast<double>(k % 8 + 1) - w);
  CHECK(trainer.samples.back() == Approx(w).epsilon(1e-6));
  WeightDraws draws(trainer.weights(), {}, folder / "samples", 3);
  for (std::int64_t k = 0; k < 3; ++k)
    CHECK(draws.get(k).weights.values(0, 0) == trainer.samples[static_cast<std::size_t>(k)]);
  REQUIRE(trainer.warning().has_value());
}

TEST_CASE("a training goes on from any minibatch with the same bits and the same stored samples",
          "[training][trainer][resume]") {
  const EpochOptions options{
      .epochs = 4, .rate_decay = 0.9, .burn_in = 0.25, .samples_per_epoch = 2, .stored_samples = 3};
  for (const char* name : {"sgd", "adam", "sgld", "psgld", "sgnht", "bbb", "svgd"}) {
    CAPTURE(name);
    WeightMethodOptions method = test::method_with(name, {{"step_size", "0.01"}});
    if (name == std::string("sgld"))
      method = test::method_with(name, {{"step_size", "0.01"}, {"temperature_every", "1"}});
    for (const std::int64_t until : {1, 7, 8, 13, 29}) {
      CAPTURE(until);
      const test::TemporaryDirectory folder;
      MeanTrainer whole(options, method), first(options, method), second(options, method);
      whole.store_samples_in(folder / "whole");
      train_epochs(whole);
      first.store_samples_in(folder / "part");
      train_epochs(first, until);
      REQUIRE(first.steps_done() == until);
      Snapshot state;
      first.save(state);
      save_checkpoint(folder / "checkpoints", 1, state);
      train_epochs(first, until + 5);  // what a killed process did after its last checkpoint is done again
      second.restore(load_latest_checkpoint(folder / "checkpoints")->state);
      second.store_samples_in(folder / "part");
      CHECK(second.steps_done() == until);
      train_epochs(second);
      CHECK(second.order.front() == std::pair<std::int64_t, std::int64_t>(until / 8, until % 8));
      CHECK(second.samples == whole.samples);
      CHECK(second.stored_samples() == whole.stored_samples());
      Snapshot a, b;
      whole.save(a);
      second.save(b);
      CHECK(a.texts() == b.texts());
      REQUIRE(a.arrays().size() == b.arrays().size());
      for (const auto& [array, numbers] : a.arrays()) {
        INFO(array);
        CHECK(numbers.bytes == b.arrays().at(array).bytes);
      }
    }
  }
}

TEST_CASE("the best weights by validation come back, and patience ends a training", "[training][trainer]") {
  // Validations after 4, 8, 12, … minibatches find |w − 3| = 0.0625, 4.0039, 0.5002, …: the first is the best.
  MeanTrainer trainer({.epochs = 3, .validations_per_epoch = 2}, plain("sgd"));
  const runs::Records records = train_epochs(trainer);
  std::vector<double> scores;
  for (const runs::Records::Number& number : records.numbers())
    if (number.tag == "validation") scores.push_back(number.value);
  const std::vector<double> w = weights_of(3, [](std::int64_t) { return 0.5; });
  REQUIRE(scores.size() == 6);
  for (std::size_t k = 0; k < 6; ++k) CHECK(scores[k] == Approx(std::abs(w[4 * k + 3] - 3)).epsilon(1e-6));
  CHECK(scores[0] == 0.0625);
  REQUIRE(trainer.validation()->best().has_value());
  CHECK(trainer.validation()->best()->step == 4);
  CHECK(trainer.weight() != 3.0625F);
  trainer.restore_best();
  CHECK(trainer.weight() == 3.0625F);
  MeanTrainer patient({.epochs = 3, .validations_per_epoch = 2, .patience = 1}, plain("sgd"));
  train_epochs(patient);
  CHECK(patient.ended());
  CHECK(patient.steps_done() == 8);
}

TEST_CASE("behind every epoch the divergence of a variational method is recorded, its share of a datum",
          "[training][trainer]") {
  MeanTrainer trainer(
      {.epochs = 3, .validations_per_epoch = 0},
      test::method_with("bbb", {{"step_size", "0.01"}, {"prior", "gaussian"}, {"weight_precision", "4"}}));
  const runs::Records records = train_epochs(trainer);
  std::vector<std::int64_t> steps;
  std::vector<double> recorded;
  for (const runs::Records::Number& number : records.numbers())
    if (number.tag == "divergence") steps.push_back(number.step), recorded.push_back(number.value);
  REQUIRE(steps == std::vector<std::int64_t>{8, 16, 24});
  const inference::Particles<float>& particles = trainer.weights().particles();
  double expected = 0;  // ½ (λ (σ² + μ²) − 1 − log λ σ²) of each of the two weights, over 8 data
  for (const char* name : {"recurrent0.weight", "output.weight"}) {
    const double mean = particles.values()(0, particles.layout().at(name).offset),
                 rho = particles.values()(0, particles.layout().at(std::string(name) + ".log_deviation").offset);
    const double square = std::pow(std::log1p(std::exp(rho)), 2);
    expected += (4 * (square + mean * mean) - 1 - std::log(4 * square)) / 2 / 8;
  }
  CHECK(recorded.back() == Approx(expected).epsilon(1e-5));
  CHECK(trainer.divergence() == Approx(expected).epsilon(1e-5));
}

namespace {

/// Counts the rows of weights whose gradients it is asked for.
class CountingModel final : public inference::ForwardingModel<float> {
 public:
  explicit CountingModel(std::int64_t& rows) : ForwardingModel(std::make_unique<test::MeanModel>()), rows_(rows) {}
  void log_likelihood(const inference::ParticleRows<const float>& weights, const inference::Batch<float>& batch,
                      const NoiseKey& noise, const inference::Evaluation<float>& wanted) override {
    rows_ += weights.values.rows;
    model().log_likelihood(weights, batch, noise, wanted);
  }

 private:
  std::int64_t& rows_;
};

}  // namespace

TEST_CASE("ranks that share a training each make their part of its gradients, and all have the same weights",
          "[training][trainer][distributed]") {
  const WeightMethodOptions method = plain("svgd", {{"particles", "3"}, {"step_size", "0.1"}});
  const EpochOptions options{.epochs = 4};
  const auto train_on = [&](const std::shared_ptr<distributed::Communicator>& ranks, std::int64_t& rows) {
    MeanTrainer trainer(options, method, {}, std::make_unique<CountingModel>(rows));
    if (ranks && !trainer.share_with(*ranks)) throw std::logic_error("it is not shared");
    train_epochs(trainer);
    return std::vector<float>(trainer.weights().particles().values().row(2).begin(),
                              trainer.weights().particles().values().row(2).end());
  };
  std::int64_t all = 0, of_rank[2] = {};
  const std::vector<float> alone = train_on(nullptr, all);
  CHECK(all == 3 * 4 * minibatches);
  std::vector<float> found[2];
  test::on_ranks(2, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
    found[ranks->rank()] = train_on(ranks, of_rank[ranks->rank()]);
  });
  CHECK(of_rank[0] == 1 * 4 * minibatches);
  CHECK(of_rank[1] == 2 * 4 * minibatches);
  CHECK(found[0] == alone);
  CHECK(found[1] == alone);
  MeanTrainer single({}, plain("sgd"));  // one row and one chunk: nothing to share
  distributed::SingleProcess other;
  CHECK_FALSE(single.share_with(other));
}

TEST_CASE("options that make no sense are refused", "[training][trainer][bad-input]") {
  CHECK_ERROR(MeanTrainer({.epochs = 0}, plain("sgd")), usage, "epochs");
  CHECK_ERROR(MeanTrainer({.rate_decay = 0}, plain("sgd")), usage, "rate_decay");
  CHECK_ERROR(MeanTrainer({.burn_in = 1}, plain("sgld")), usage, "burn_in");
  CHECK_ERROR(MeanTrainer({.batch_size = 3, .gradient_chunks = 4}, plain("sgd")), usage,
              "gradient_chunks=4 are more than the 3 rows of a minibatch");
  MeanTrainer late({.epochs = 4, .burn_in = 0.99}, plain("sgld"));  // of 32 minibatches the last is behind the burn-in
  train_epochs(late);
  CHECK(late.sampled_at == std::vector<std::int64_t>{32});
}

TEST_CASE("what predictions need is found in a checkpoint without a trainer", "[training][trainer]") {
  const test::TemporaryDirectory folder;
  MeanTrainer trainer({.epochs = 4, .burn_in = 0, .samples_per_epoch = 1, .stored_samples = 3}, plain("sgld"));
  trainer.store_samples_in(folder / "samples");
  train_epochs(trainer);
  Snapshot whole;
  trainer.save(whole);
  const EpochTrainer::Saved saved = EpochTrainer::saved_in(whole);
  CHECK(saved.meaning.get_text("unit") == "metres");
  CHECK(saved.facts.size == 8);
  CHECK(saved.facts.minibatches == minibatches);
  CHECK(saved.stored_samples == 3);
  const auto weight_in = [](const Snapshot& weights) {
    NetworkWeights network(plain("sgld"), std::make_unique<test::MeanModel>(), {}, 9);
    network.restore_weights(weights);
    return network.particles().values()(0, 0);
  };
  CHECK(weight_in(saved.weights) == trainer.weight());
  REQUIRE(saved.best.has_value());
  trainer.restore_best();
  CHECK(weight_in(*saved.best) == trainer.weight());
  Snapshot fresh;
  MeanTrainer({.epochs = 1, .burn_in = 0, .validations_per_epoch = 0}, plain("sgd")).save(fresh);
  CHECK_FALSE(EpochTrainer::saved_in(fresh).best.has_value());
  CHECK(EpochTrainer::saved_in(fresh).stored_samples == 0);
}

}  // namespace
}  // namespace stein::training
