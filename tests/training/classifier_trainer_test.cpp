// Training of classifiers: order of rows, samples, curves, resumption, and what the end says.
#include <stein/core/checkpoint.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/training/classifier_trainer.h>
#include <stein/training/starting_weights.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "training/mean_model.h"
#include "training/method_with.h"
#include "training/noting_model.h"

namespace stein::training {
namespace {

/// Points of two classes that x = 0 parts. Rows that were asked
/// for are counted.
class Points final : public LabelledRows {
 public:
  Points(std::int64_t count, std::uint64_t seed) {
    Draws draws({.seed = seed, .stream = Stream::test}, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = draws.uniform(-1, 1);
      points_.push_back(static_cast<float>(x));
      points_.push_back(static_cast<float>(draws.uniform(-1, 1)));
      labels_.push_back(x > 0);
    }
  }
  std::int64_t count() const override { return std::ssize(labels_); }
  std::int64_t label(std::int64_t row) const override { return labels_[static_cast<std::size_t>(row)]; }
  std::int64_t length(std::int64_t row) const override { return -row; }  // so that pieces are in another order
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override {
    asked.emplace_back(rows.begin(), rows.end());
    memory_.clear();
    for (const std::int64_t row : rows)
      for (const std::int64_t k : {0, 1}) memory_.push_back(points_[static_cast<std::size_t>(2 * row + k)]);
    inference::Inputs<float> inputs;
    inputs.dense = {memory_.data(), std::ssize(rows), 2};
    return inputs;
  }

  inference::Inputs<float> training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) override {
    keys.emplace_back(key.seed, key.step);
    return inputs(rows);
  }

  std::vector<std::vector<std::int64_t>> asked;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keys;  ///< seed and step of what rows are changed by

 private:
  std::vector<float> points_, memory_;
  std::vector<std::int64_t> labels_;
};

struct Case {
  std::string method = "rmsprop";
  EpochOptions options{.batch_size = 8, .epochs = 3, .burn_in = 0.4, .samples_per_epoch = 2, .draws = 3};
  std::int64_t train = 50, validation = 20, test = 30;
  double step_size = 0.01;
  std::map<std::string, std::string> more{};  ///< options of the method

  std::unique_ptr<ClassifierTrainer> make(std::uint64_t seed = 1, Points** rows = nullptr) const {
    return make(new_network(), seed, rows);
  }
  static std::unique_ptr<inference::Model<float>> new_network() {
    return std::make_unique<inference::ParticleMlp>(
        inference::MlpSpec{.inputs = 2, .hidden = {4}, .outputs = 2, .likelihood = inference::Likelihood::categorical});
  }
  std::unique_ptr<ClassifierTrainer> make(std::unique_ptr<inference::Model<float>> network, std::uint64_t seed = 1,
                                          Points** rows = nullptr) const {
    auto points = std::make_unique<Points>(train, 1);
    if (rows != nullptr) *rows = points.get();
    WeightMethodOptions method_options = weight_methods().at(method).defaults;
    OptionTable table = OptionTable::of(method_options);
    table.set("step_size", fmt::format("{}", step_size));
    for (const auto& [key, value] : more) table.set(key, value);
    return std::make_unique<ClassifierTrainer>(LabelledParts{.train = std::move(points),
                                                             .validation = std::make_unique<Points>(validation, 2),
                                                             .test = std::make_unique<Points>(test, 3)},
                                               options, method_options, std::move(network), seed);
  }
};

void train(ClassifierTrainer& trainer, runs::Records& records, std::int64_t until = 1'000'000) {
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
}
void train(ClassifierTrainer& trainer, std::int64_t until = 1'000'000) {
  runs::Records records(false);
  train(trainer, records, until);
}

}  // namespace

TEST_CASE("an epoch goes through every row once, in an order of its own that the seed fixes",
          "[training][classifier]") {
  const auto rows_of = [](std::uint64_t seed) {
    Points* rows = nullptr;
    const auto trainer = Case{}.make(seed, &rows);
    train(*trainer);
    std::vector<std::vector<std::int64_t>> minibatches;
    for (const auto& asked : rows->asked)
      if (asked.size() <= 8) minibatches.push_back(asked);  // the others are predictions for the curve
    return minibatches;
  };
  const auto minibatches = rows_of(1);
  REQUIRE(minibatches.size() == 3 * 7);  // 50 rows in minibatches of 8, the last of 2
  std::vector<std::vector<std::int64_t>> epochs(3);
  for (std::size_t c = 0; c < minibatches.size(); ++c)
    epochs[c / 7].insert(epochs[c / 7].end(), minibatches[c].begin(), minibatches[c].end());
  for (const auto& epoch : epochs) CHECK(std::set(epoch.begin(), epoch.end()).size() == 50);
  CHECK(epochs[0] != epochs[1]);
  CHECK(epochs[1] != epochs[2]);
  CHECK(rows_of(1) == minibatches);
  CHECK(rows_of(2) != minibatches);
}

TEST_CASE("every minibatch of every epoch and seed is changed by draws of its own", "[training][classifier]") {
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
  std::size_t all = 0;
  for (const std::uint64_t seed : {1, 2}) {
    Points* rows = nullptr;
    const auto trainer = Case{}.make(seed, &rows);
    train(*trainer);
    keys.insert(rows->keys.begin(), rows->keys.end());
    all += rows->keys.size();
  }
  CHECK(all == 2 * 3 * 7);  // three epochs of 50 rows in minibatches of 8
  CHECK(keys.size() == all);
}

TEST_CASE("every minibatch stands for all rows of the training part", "[training][classifier]") {
  std::vector<test::NotingModel::Share> noted;
  const auto trainer = Case{}.make(std::make_unique<test::NotingModel>(Case::new_network(), noted));
  train(*trainer);
  REQUIRE(noted.size() == 3 * 7);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    CHECK(noted[i].data == 50);
    CHECK(noted[i].count == (i % 7 == 6 ? 2 : 8));
  }
}

TEST_CASE("every method goes on from the middle of an epoch with the same bits", "[training][classifier][resume]") {
  for (const auto& [name, entry] : weight_methods().entries()) {
    CAPTURE(name);
    Case each{.method = name, .step_size = 1e-3};
    if (entry.defaults.takes_all_data) each.more = {{"warm_up", "1"}};
    const auto whole = each.make();
    train(*whole);
    const auto first = each.make();
    train(*first, 83);
    CHECK((first->steps_done() % 50 != 0) == !entry.defaults.takes_all_data);
    const test::TemporaryDirectory folder;
    Snapshot state;
    first->save(state);
    save_checkpoint(folder.path(), 1, state);
    const auto second = each.make();
    second->restore(load_latest_checkpoint(folder.path())->state);
    train(*second);
    Snapshot a, b;
    whole->save(a);
    second->save(b);
    REQUIRE(a.arrays().size() == b.arrays().size());
    for (const auto& [array, content] : a.arrays()) {
      INFO(array);
      CHECK(content.bytes == b.arrays().at(array).bytes);
    }
    CHECK(whole->test_result().averaged.log_likelihood == second->test_result().averaged.log_likelihood);
  }
}

TEST_CASE("a chain of trajectories looks at all rows in every step, and one sample comes with each",
          "[training][classifier]") {
  for (const char* const method : {"hmc", "nuts"}) {
    std::vector<test::NotingModel::Share> noted;
    Case each{.method = method, .step_size = 1e-2, .more = {{"warm_up", "20"}}};
    each.options.epochs = 100, each.options.burn_in = 0.5;
    const auto trainer = each.make(std::make_unique<test::NotingModel>(Case::new_network(), noted));
    train(*trainer);
    REQUIRE_FALSE(noted.empty());
    for (const test::NotingModel::Share& share : noted) {
      CHECK(share.count == 50);
      CHECK(share.data == 50);
    }
    const ClassifierResult result = trainer->test_result();
    CHECK(trainer->steps_done() == 100 * 50);
    CHECK(result.samples == 50);
    CHECK(result.averaged.error < 0.2);  // who guesses is wrong in half
  }
  Case none{.method = "nuts", .more = {{"warm_up", "3"}}};
  CHECK_ERROR(none.make(), usage, "none of 3 updates gives a sample");
}

TEST_CASE("weights to begin with are taken once, before the first step, and a restored state has them",
          "[training][classifier][starting]") {
  const auto other = Case{}.make(/*seed=*/9);
  train(*other);
  int asked = 0;
  const auto begun = [&] {
    auto trainer = Case{}.make();
    trainer->begin_with([&] { return ++asked, starting_weights(other->weights()); });
    return trainer;
  };
  const auto whole = begun();
  CHECK_FALSE(whole->error_before().has_value());
  whole->begin();
  CHECK(asked == 1);
  const double error = other->test_result().final_weights.error;
  CHECK(whole->error_before() == error);
  Snapshot state;
  whole->save(state);
  const auto again = begun();
  again->restore(state);
  again->begin();
  CHECK(asked == 1);
  CHECK(again->error_before() == error);
  train(*whole), train(*again);
  CHECK(whole->test_result().averaged.log_likelihood == again->test_result().averaged.log_likelihood);
  CHECK(whole->test_result().averaged.log_likelihood != other->test_result().averaged.log_likelihood);
}

TEST_CASE("the end says what samples, draws, particles or the last weights are worth", "[training][classifier]") {
  const auto result = [](const std::string& method) {
    const auto trainer = Case{.method = method, .step_size = 1e-3}.make();
    train(*trainer);
    return trainer->test_result();
  };
  CHECK(result("rmsprop").samples == 1);
  CHECK(result("rmsprop").curves.forward.empty());
  // 21 minibatches, 8 of them burn-in, one sample every 3 after it: (21 − 8)/3.
  const ClassifierResult chain = result("psgld");
  CHECK(chain.samples == 4);
  CHECK(chain.curves.forward.size() == 4);
  CHECK(chain.curves.thinned.back() == chain.averaged.error);
  CHECK(chain.averaged.log_likelihood >= chain.single.log_likelihood);
  CHECK(result("bbb").samples == 3);
  CHECK(result("svgd").samples == weight_methods().at("svgd").defaults.particles);
}

TEST_CASE("chains side by side are each the chain that it would be alone, and all their samples are averaged",
          "[training][classifier]") {
  for (const std::string method : {"sghmc", "psgld", "nuts"}) {
    CAPTURE(method);
    Case alone{.method = method, .step_size = 1e-3};
    if (method == "nuts") alone.more = {{"warm_up", "1"}};
    Case three = alone;
    three.more["chains"] = "3";
    const auto one = alone.make(), all = three.make();
    train(*one), train(*all);
    const auto chain = [](ClassifierTrainer& trainer, std::int64_t i) {
      const auto row = trainer.weights().particles().values().row(i);
      return std::vector<float>(row.begin(), row.end());
    };
    CHECK(chain(*all, 0) == chain(*one, 0));
    CHECK(chain(*all, 1) != chain(*one, 0));
    CHECK(chain(*all, 2) != chain(*all, 1));
    CHECK(all->planned_samples() == 3 * one->planned_samples());
    CHECK(all->test_result().samples == 3 * one->test_result().samples);
  }
}

TEST_CASE("chains are asked whether they agree about test rows, other methods are not", "[training][classifier]") {
  Case three{.method = "psgld", .step_size = 1e-3};
  three.more["chains"] = "3";
  three.options.epochs = 10, three.options.samples_per_epoch = 2;
  const auto trainer = three.make();
  train(*trainer);
  const ClassifierResult test = trainer->test_result();
  REQUIRE(test.agreement);
  CHECK(test.agreement->chains == 3);
  CHECK(test.agreement->draws * 3 == test.samples);
  CHECK(test.agreement->quantities == test.rows);
  Snapshot snapshot;
  test.save(snapshot);
  ClassifierResult restored;
  restored.restore(snapshot);
  REQUIRE(restored.agreement);
  CHECK(restored.agreement->worst_r_hat == test.agreement->worst_r_hat);
  for (const char* method : {"svgd", "bbb", "adam"}) {
    Case other{.method = method};
    const auto without = other.make();
    train(*without);
    CHECK_FALSE(without->test_result().agreement);
  }
}

TEST_CASE("a short chain has a sample all the same, one without a step for it is refused", "[training][classifier]") {
  Case each{.method = "psgld", .step_size = 1e-3};
  each.options.epochs = 1, each.options.samples_per_epoch = 1;
  const auto trainer = each.make();
  train(*trainer);
  CHECK(trainer->test_result().samples == 1);  // 7 minibatches, 2 of them burn-in: the last of the others
  each.method = "santa", each.options.samples_per_epoch = 2;
  each.train = 8;  // one minibatch, in which it explores
  CHECK_ERROR(each.make(), usage, "none of 1 updates gives a sample", "burn_in");
}

TEST_CASE("what two classes that a line parts can be told by is learned", "[training][classifier]") {
  Case each{.step_size = 0.02};
  each.options.epochs = 60;
  each.train = 200;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto trainer = each.make(seed);
    runs::Records records(false);
    train(*trainer, records);
    const ClassifierResult test = trainer->test_result();
    CHECK(test.rows == 30);
    // Of 30 points at most 3 lie where a line through 200 others may err: 4 wrong are a sign of a fault.
    CHECK(test.final_weights.error <= 0.1);
    REQUIRE(test.chosen.has_value());
    CHECK(trainer->validation()->best()->score == trainer->outcome().validation->chosen->error);
  }
}

TEST_CASE("the last point of a curve is the error of all particles together", "[training][classifier]") {
  Case each;
  each.method = "svgd";
  const auto trainer = each.make();
  runs::Records records(false);
  train(*trainer, records);
  double error = -1;
  for (const auto& record : records.numbers())
    if (std::string_view(record.tag) == "test_error") error = record.value;
  const ClassifierResult result = trainer->test_result();
  REQUIRE(result.samples > 1);
  CHECK(error == result.averaged.error);
}

TEST_CASE("curves are recorded where an epoch ends, those of parts without rows are not", "[training][classifier]") {
  Case each;
  each.validation = 0;
  const auto trainer = each.make();
  runs::Records records(false);
  train(*trainer, records);
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const auto& record : records.numbers()) steps[std::string(record.tag)].push_back(record.step);
  CHECK(steps["train_error"] == std::vector<std::int64_t>{50, 100, 150});
  CHECK(steps["test_error"] == std::vector<std::int64_t>{50, 100, 150});
  CHECK(steps.count("validation_error") == 0);
  CHECK(!trainer->outcome().validation.has_value());
  CHECK(!trainer->test_result().chosen.has_value());
}

TEST_CASE("parts without rows are refused where they are needed", "[training][classifier]") {
  Case each;
  each.train = 0;
  CHECK_ERROR(each.make(), data, "training");
  each.train = 10, each.test = 0;
  CHECK_ERROR(each.make(), data, "test");
  each.test = 10, each.validation = 0, each.options.patience = 3;
  CHECK_ERROR(each.make(), usage, "patience = 3", "set validations_per_epoch");
}

TEST_CASE("rows are classified in their own order, whatever stands together", "[training][classifier]") {
  const auto trainer = Case{}.make();
  train(*trainer);
  Points rows(600, 5);  // three pieces of 256, the last row first
  WeightDraws draws(trainer->weights(), {}, {}, 0);
  const SampledClasses all = RowClassifier(rows).classify(trainer->weights().posterior().model(), draws);
  const inference::Predictive together = all.predictive();
  for (const std::int64_t row : {0, 1, 255, 256, 599}) {
    std::vector<float> logits(2);
    trainer->weights().posterior().model().predict(draws.get(0).weights, rows.inputs(std::span(&row, 1)),
                                                   {logits.data(), 1, 2});
    CHECK(together.mean()(row, 1) == Approx(1 / (1 + std::exp(double{logits[0]} - double{logits[1]}))).epsilon(1e-6));
    CHECK(all.labels()[static_cast<std::size_t>(row)] == rows.label(row));
  }
}

/// Notes the keys of dropout that it is asked to predict with.
class KeyModel final : public inference::Model<float> {
 public:
  explicit KeyModel(std::vector<std::uint64_t>& noted) : noted_(noted) {}

  const inference::Layout& layout() const override { return model_.layout(); }
  bool draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const override {
    return model_.draw_start(weights, seed, row);
  }
  void log_likelihood(const inference::ParticleRows<const float>&, const inference::Batch<float>&, const NoiseKey&,
                      const inference::Evaluation<float>&) override {}
  std::int64_t output_count() const override { return model_.output_count(); }
  void predict(const inference::ParticleRows<const float>& weights, const inference::Inputs<float>& inputs,
               inference::MatrixView<float> outputs) override {
    REQUIRE(inputs.dropout.has_value());
    noted_.push_back(inputs.dropout->step);
    model_.predict(weights, inputs, outputs);
  }

 private:
  test::MeanModel model_;
  std::vector<std::uint64_t>& noted_;
};

TEST_CASE("dropout has a key of its own in each piece of the rows and each draw", "[training][classifier]") {
  std::vector<std::uint64_t> noted;
  KeyModel model(noted);
  NetworkWeights weights{
      test::method_with("sgd", {}), std::make_unique<KeyModel>(noted), {.size = 8, .minibatches = 8}, 0};
  Points rows(600, 5);  // three pieces of 256
  WeightDraws draws(weights, {.draws = 2, .dropout = true}, {}, 0);
  RowClassifier(rows).classify(model, draws);
  CHECK(noted.size() == 6);
  CHECK(std::set(noted.begin(), noted.end()).size() == 6);
  const std::vector<std::uint64_t> first = noted;
  RowClassifier(rows).classify(model, draws);
  CHECK(std::equal(first.begin(), first.end(), noted.begin() + 6));
}

}  // namespace stein::training
