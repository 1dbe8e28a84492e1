// The summary and the files of a run of classifiers, against counts by hand.
#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/training/classifier_run.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

/// Rows of one number x, each with a class.
class Numbers final : public LabelledRows {
 public:
  struct Row {
    float x;
    std::int64_t label;
    std::string text{};
  };
  explicit Numbers(std::vector<Row> rows) : rows_(std::move(rows)) {}
  std::int64_t count() const override { return std::ssize(rows_); }
  std::int64_t label(std::int64_t row) const override { return at(row).label; }
  std::string text(std::int64_t row) const override { return at(row).text; }
  inference::Inputs<float> inputs(std::span<const std::int64_t> rows) override {
    memory_.clear();
    for (const std::int64_t row : rows) memory_.push_back(at(row).x);
    inference::Inputs<float> inputs;
    inputs.dense = {memory_.data(), std::ssize(rows), 1};
    return inputs;
  }

 private:
  const Row& at(std::int64_t row) const { return rows_[static_cast<std::size_t>(row)]; }

  std::vector<Row> rows_;
  std::vector<float> memory_;
};

/// Networks that say class 1 with probability 1/(1 + e^{−ax}), of an `a` for every particle.
const inference::MlpSpec one_weight{.inputs = 1, .outputs = 2, .likelihood = inference::Likelihood::categorical};

/// A trainer on three rows, which has taken no step.
std::unique_ptr<ClassifierTrainer> new_trainer(std::uint64_t seed, const WeightMethodOptions& method, bool validated,
                                               const EpochOptions& options = {.batch_size = 3, .epochs = 2}) {
  return std::make_unique<ClassifierTrainer>(
      LabelledParts{.train = std::make_unique<Numbers>(std::vector<Numbers::Row>{{1, 1}, {-1, 0}, {0, 0}}),
                    .validation = std::make_unique<Numbers>(validated ? std::vector<Numbers::Row>{{1, 1}, {-1, 0}}
                                                                      : std::vector<Numbers::Row>{}),
                    .test = std::make_unique<Numbers>(
                        std::vector<Numbers::Row>{{1, 1, "one"}, {1, 0}, {-1, 0}, {0, 0, "nought"}, {0, 1}})},
      options, method, std::make_unique<inference::ParticleMlp>(one_weight), seed);
}

/// A trainer of `a.size()` particles of SVGD, which nothing has moved.
std::unique_ptr<ClassifierTrainer> trainer_with(std::uint64_t seed, const std::vector<double>& a, bool validated) {
  auto trainer = new_trainer(seed, test::method_with("svgd", {{"particles", std::to_string(a.size())}}), validated);
  inference::Particles<float>& particles = trainer->weights().particles();
  for (std::size_t m = 0; m < a.size(); ++m) {
    const auto row = static_cast<std::int64_t>(m);
    std::ranges::fill(particles.values().row(row), 0.0F);
    particles.view("layer0.weight", row)(0, 1) = static_cast<float>(a[m]);
  }
  return trainer;
}

/// Seed 3 has particles of a = −ln 3 and ln 9, seed 4 two of −ln 3: at x = 1 they say class 1 with probabilities 1/4
/// and 9/10, on average 0.575, and with 1/4.
///
/// Test rows are (x, class): (1, 1), (1, 0), (−1, 0), (0, 0), (0, 1), and a tie goes to class 0. So a > 0 errs in the
/// second and the last, a < 0 in the first, the third and the last.
ClassifierRun make_run(bool folds = false, bool validated = true) {
  return {{3, 5},
          ClassifierRun::Facts{.data = "numbers",
                               .source = "numbers by hand",
                               .datum = "number",
                               .network = "line",
                               .method = "svgd",
                               .epochs = 2,
                               .classes = {"low", "high"},
                               .folds = folds,
                               .notices = {"nothing is left out"},
                               .data_options = {{"size", "3"}}},
          [&](std::uint64_t seed) {
            return trainer_with(seed, {-std::log(3), seed == 3 ? std::log(9) : -std::log(3)}, validated);
          }};
}

/// Mean and values of a measured number are as expected, and its sd is that of two values: |a − b|/√2.
void check_measured(const Json& measured, const char* each, double first, double second) {
  CAPTURE(measured.dump());
  CHECK(measured["mean"].get<double>() == Approx((first + second) / 2).epsilon(1e-6));
  CHECK(measured["sd"].get<double>() == Approx(std::abs(first - second) / std::sqrt(2)).epsilon(1e-5).margin(1e-9));
  REQUIRE(measured[each].size() == 2);
  CHECK(measured[each][0].get<double>() == Approx(first).epsilon(1e-6));
  CHECK(measured[each][1].get<double>() == Approx(second).epsilon(1e-6));
}

double entropy_of(double p) {
  return -p * std::log(p) - (1 - p) * std::log(1 - p);
}

}  // namespace

TEST_CASE("the summary has the scores of averages, of single samples and of the last weights",
          "[training][classifier-run]") {
  const bool folds = GENERATE(false, true);
  const char* const each = folds ? "per_fold" : "per_seed";
  ClassifierRun run = make_run(folds);
  const Json summary = run.summarize({});
  const Json& test = summary["test"];
  CHECK(run.each() == std::string(each));
  CHECK(test["rows"] == 5);
  CHECK(test["samples"] == 2);
  check_measured(test["error"], each, 2. / 5, 3. / 5);
  check_measured(test["single_sample"]["error"], each, (3. / 5 + 2. / 5) / 2, 3. / 5);
  check_measured(test["final_weights"]["error"], each, 2. / 5, 3. / 5);  // all particles together
  // ln p of the classes of the five rows where p is what is said of class 1 at x = 1; at x = −1 it is 1 − p.
  const auto log_likelihood = [](double p) {
    return (std::log(p) + std::log(1 - p) + std::log(p) + 2 * std::log(0.5)) / 5;
  };
  check_measured(test["log_likelihood"], each, log_likelihood(0.575), log_likelihood(0.25));
  check_measured(test["single_sample"]["log_likelihood"], each, (log_likelihood(0.25) + log_likelihood(0.9)) / 2,
                 log_likelihood(0.25));
  const auto brier = [](double p) { return (2 * (1 - p) * (1 - p) + p * p) * 2 / 5 + 2 * 0.5 / 5; };
  check_measured(test["brier"], each, brier(0.575), brier(0.25));
  // Of the two rows of validation the average errs in none and a < 0 in both.
  CHECK(summary["validation"]["rows"] == 2);
  check_measured(summary["validation"]["error"], each, 0, 1);
  check_measured(summary["validation"]["single_sample"]["error"], each, 0.5, 1);
  CHECK_FALSE(test.contains("validation_chosen"));  // nothing was validated yet
  CHECK_FALSE(summary.contains("temperatures"));
  CHECK(summary["parameters"] == 4);
  CHECK(summary["classes"] == Json{"low", "high"});
  CHECK(summary["model"] == "line");
}

TEST_CASE("each seed of a variational method has a divergence of its own", "[training][classifier-run]") {
  ClassifierRun run({3, 5}, ClassifierRun::Facts{.method = "bbb", .epochs = 2, .classes = {"low", "high"}},
                    [](std::uint64_t seed) {
                      auto trainer = new_trainer(seed, test::method_with("bbb", {}), true);
                      for (float& mean : trainer->weights().particles().values().row(0))
                        mean += static_cast<float>(seed);  // so that seeds are far apart
                      return trainer;
                    });
  const Json measured = run.summarize({})["divergence"];
  check_measured(measured, "per_seed", run.repetition(0).divergence(), run.repetition(1).divergence());
  CHECK(measured["per_seed"][0] != measured["per_seed"][1]);
}

TEST_CASE("whoever loses more than equal chances would is warned of, once that is known",
          "[training][classifier-run]") {
  ClassifierRun run = make_run();
  CHECK(run.warnings().empty());
  run.summarize({});  // of the two, one loses less than ln 2, and one (3 ln 4 + ln (4/3) + …)/5 = 0.889
  const std::vector<std::string> warnings = run.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0],
             Catch::Contains("1 of 2 models lose more than equal chances for all 2 outcomes do (0.693 nats "
                             "a number, here 0.889)"));
}

TEST_CASE("what was not validated has no validation in its summary and its curves", "[training][classifier-run]") {
  ClassifierRun run = make_run(false, false);
  CHECK_FALSE(run.summarize({}).contains("validation"));
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  run.write_results(directory);
  CHECK_FALSE(Json::parse(read_file(directory.file("curves.json"))).contains("validation"));
}

TEST_CASE("the weights with the least validation error have scores of their own after a training",
          "[training][classifier-run]") {
  ClassifierRun run = make_run();
  runs::Records records(false);
  for (std::int64_t i = 0; i < 2; ++i)
    while (!run.repetition(i).ended()) run.repetition(i).advance(1'000, {}, records);
  const Json summary = run.summarize({});
  for (const char* part : {"validation", "test"})
    for (const char* score : {"error", "log_likelihood", "ece", "brier"})
      CHECK(summary[part]["validation_chosen"][score]["per_seed"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(summary["validation"]["validation_chosen"]["error"]["per_seed"][i].get<double>() ==
          run.repetition(static_cast<std::int64_t>(i)).validation()->best()->score);
}

TEST_CASE("an outcome that was found where a training concluded is in its state until it is forgotten",
          "[training][classifier-run]") {
  const auto method = test::method_with("svgd", {{"particles", "3"}});
  const auto trainer = new_trainer(3, method, true), other = new_trainer(4, method, true);
  runs::Records records(false);
  for (ClassifierTrainer* const each : {trainer.get(), other.get()})
    while (!each->ended()) each->advance(1'000, {}, records);
  const auto state_of = [](const ClassifierTrainer& each) {
    Snapshot state;
    each.save(state);
    return state;
  };
  const auto numbers_of = [&](ClassifierTrainer& each) {
    Snapshot numbers;
    each.outcome().save(numbers);
    return encode_safetensors(numbers);
  };
  const std::size_t before = state_of(*trainer).arrays().size();
  const std::string expected = numbers_of(*trainer);
  REQUIRE(trainer->outcome().validation->chosen.has_value());
  StopToken stop;
  stop.request_stop();
  trainer->conclude(stop);
  CHECK(state_of(*trainer).arrays().size() == before);
  trainer->conclude({});
  other->restore(state_of(*trainer));
  other->weights().particles().values()(0, 0) += 1;  // it looks at the weights no more
  CHECK((numbers_of(*other) == expected));
  other->forget_outcome();
  CHECK((numbers_of(*other) != expected));
  CHECK(state_of(*other).arrays().size() == before);
}

TEST_CASE("a summary has what repetitions found where they concluded, and leaves nothing of it in their state",
          "[training][classifier-run]") {
  ClassifierRun run = make_run(), concluded = make_run();
  concluded.conclude({});
  for (std::int64_t i = 0; i < 2; ++i)  // their weights are looked at no more
    for (std::int64_t row = 0; row < 2; ++row)
      std::ranges::fill(concluded.repetition(i).weights().particles().values().row(row), 0.0F);
  CHECK(concluded.summarize({})["test"] == run.summarize({})["test"]);
  Snapshot state;
  concluded.save(state);
  for (const auto& array : state.arrays()) CHECK(array.first.find("outcome") == std::string::npos);
  const test::TemporaryDirectory folder;
  const RunDirectory one = RunDirectory::create(folder / "one"), two = RunDirectory::create(folder / "two");
  run.write_results(one), concluded.write_results(two);
  CHECK(read_file(one.file("predictions.json")) == read_file(two.file("predictions.json")));
}

TEST_CASE("a run that is asked to stop has no summary", "[training][classifier-run]") {
  const StopToken stop;
  stop.request_stop();
  CHECK(make_run().summarize(stop).empty());
}

TEST_CASE("curves.json has a list of errors for every seed and each choice of samples", "[training][classifier-run]") {
  ClassifierRun run = make_run();
  run.summarize({});
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  run.write_results(directory);
  // Of seed 3 the first particle alone errs in three rows of the test and both of validation, the last one in two and
  // none; "thinned" begins with the last. Of seed 4 both are alike.
  CHECK(Json::parse(read_file(directory.file("curves.json"))) ==
        Json::parse(R"({"test": {"forward": [[0.6, 0.4], [0.6, 0.6]],
                                 "backward": [[0.4, 0.4], [0.6, 0.6]],
                                 "thinned": [[0.4, 0.4], [0.6, 0.6]]},
                        "sample_errors": [[0.6, 0.4], [0.6, 0.6]],
                        "validation": {"forward": [[1.0, 0.0], [1.0, 1.0]],
                                       "backward": [[0.0, 0.0], [1.0, 1.0]],
                                       "thinned": [[0.0, 0.0], [1.0, 1.0]]}})"));
}

TEST_CASE("predictions.json has class, probabilities, spread and entropies of every test row",
          "[training][classifier-run]") {
  ClassifierRun run = make_run();
  run.summarize({});
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  run.write_results(directory);
  const Json predictions = Json::parse(read_file(directory.file("predictions.json")));
  CHECK(predictions["classes"] == Json{"low", "high"});
  REQUIRE(predictions["seeds"].size() == 2);
  CHECK(predictions["seeds"][0]["seed"] == 3);
  CHECK(predictions["seeds"][1]["seed"] == 4);
  const std::vector<std::int64_t> labels{1, 0, 0, 0, 1};
  const std::vector<double> x{1, 1, -1, 0, 0};
  for (std::size_t seed = 0; seed < 2; ++seed) {
    const Json& rows = predictions["seeds"][seed]["rows"];
    REQUIRE(rows.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(seed, i);
      // What the two particles say of class 1: 1/4 and 9/10, or twice 1/4, at x = 1.
      const auto at = [&](double p) { return x[i] > 0 ? p : x[i] < 0 ? 1 - p : 0.5; };
      const double one = at(0.25), other = at(seed == 0 ? 0.9 : 0.25), mean = (one + other) / 2;
      const double deviation = std::abs(one - other) / 2;  // with 1/draws
      const Json& row = rows[i];
      CHECK(row["label"] == labels[i]);
      CHECK(row["probabilities"][0].get<double>() == Approx(1 - mean).epsilon(1e-5));
      CHECK(row["probabilities"][1].get<double>() == Approx(mean).epsilon(1e-5));
      for (const Json& each : row["deviations"]) CHECK(each.get<double>() == Approx(deviation).margin(1e-6));
      CHECK(row["entropy"].get<double>() == Approx(entropy_of(mean)).epsilon(1e-5));
      CHECK(row["mutual_information"].get<double>() ==
            Approx(entropy_of(mean) - (entropy_of(one) + entropy_of(other)) / 2).margin(1e-6));
      CHECK(row.contains("text") == (i == 0 || i == 3));
    }
    CHECK(rows[0]["text"] == "one");
    CHECK(rows[3]["text"] == "nought");
  }
}

TEST_CASE("the first lines of a run count data, classes, weights and minibatches", "[training][classifier-run]") {
  const ClassifierRun run = make_run();
  const std::vector<std::string> notices = run.notices();
  REQUIRE(notices.size() == 2);
  CHECK(
      notices[0] ==
      "3 numbers of training, 2 of validation, 5 of test; 2 classes (low, high); 4 weights; 1 minibatches of an epoch");
  CHECK(notices[1] == "nothing is left out");
  CHECK(run.source() == "numbers by hand");
  const Json protocol = run.protocol();
  CHECK(protocol["env"] == "numbers");
  CHECK(protocol["N"] == 3);
  CHECK(protocol["unit"] == "numbers");
  CHECK(protocol["minibatches"] == 1);
  CHECK(protocol["env_options"] == Json{{"size", "3"}});
}

TEST_CASE("what an earlier process spent counts in the rate of rows", "[training][classifier-run]") {
  ClassifierRun run = make_run();
  run.add_cost({{"training_seconds", 10}});
  CHECK(run.cost()["training_seconds"].get<double>() == Approx(10).epsilon(1e-6));
  run.add_cost({{"training_seconds", 5}});
  CHECK(run.cost()["training_seconds"].get<double>() == Approx(15).epsilon(1e-6));
}

/// The first lines of a run of two classes that has taken no step.
std::vector<std::string> notices(const char* method, const test::Settings& settings,
                                 const EpochOptions& options = {.batch_size = 3, .epochs = 2}) {
  const ClassifierRun run(
      {0, 1},
      {.data = "numbers",
       .source = "numbers by hand",
       .datum = "number",
       .network = "line",
       .method = method,
       .classes = {"low", "high"}},
      [&](std::uint64_t seed) { return new_trainer(seed, test::method_with(method, settings), true, options); });
  return run.notices();
}

TEST_CASE("a chain whose noise alone costs much is told of, in nats a datum", "[training][classifier-run]") {
  // Four weights and three rows: T · 4/(2 · 3) nats.
  const std::vector<std::string> warm = notices("sgld", {{"temperature", "1"}}),
                                 cool = notices("sgld", {{"temperature", "0.2"}});
  REQUIRE(warm.size() == 2);
  CHECK(warm[1] ==
        "at temperature 1 a sample loses about T · weights/(2N) = 0.67 nats a number to its own noise: there are 1.3 "
        "weights for every number; it loses 0.05 at a temperature of 0.08");
  REQUIRE(cool.size() == 2);
  CHECK_THAT(cool[1], Catch::Contains("at temperature 0.2 a sample loses") && Catch::Contains("= 0.13 nats a number"));
  CHECK(notices("sgld", {{"temperature", "0.1"}}).size() == 1);  // 0.07 nats
  CHECK(notices("sgd", {}).size() == 1);
  CHECK(notices("sgld", {{"temperature", "1"}, {"clip_norm", "5"}, {"clip_rule", "rescale"}}).size() == 1);
}

TEST_CASE("a chain that leaves nothing to average, or nothing for later, is told of", "[training][classifier-run]") {
  const auto notices_with = [](const char* method, const EpochOptions& options) {
    return notices(method, {{"clip_norm", "5"}, {"clip_rule", "rescale"}}, options);  // no word about noise
  };
  const EpochOptions late{.batch_size = 3, .epochs = 2, .burn_in = 0.5},
      both{.batch_size = 3, .epochs = 2, .burn_in = 0};
  REQUIRE(notices_with("sgld", late).size() == 2);
  CHECK_THAT(notices_with("sgld", late)[1], Catch::Contains("one sample only"));
  CHECK(notices_with("sgld", both).size() == 1);
  CHECK(notices_with("sgd", late).size() == 1);
  EpochOptions unstored = both;
  unstored.stored_samples = 0;
  REQUIRE(notices_with("sgld", unstored).size() == 2);
  CHECK_THAT(notices_with("sgld", unstored)[1], Catch::Contains("stored_samples=0"));
}

TEST_CASE("an error is told in per cent, with its deviation where there is one", "[training][classifier-run]") {
  CHECK(error_text({{"mean", 0.124}, {"sd", 0.0031}}) == "12.40 % ± 0.31");
  CHECK(error_text({{"mean", 0.124}, {"sd", nullptr}}) == "12.40 %");
}

TEST_CASE("a summary for a person has one sample and the average only where there are several",
          "[training][classifier-run]") {
  Json summary = make_run().summarize({});
  summary["seeds"] = {3, 4};
  summary["peak_memory_mb"] = 10, summary["wall_seconds"] = 1;
  const std::string text = readable_classifier_summary(summary);
  CAPTURE(text);
  CHECK_THAT(text, Catch::Contains("line, svgd on numbers: 4 weights, 2 epochs") &&
                       Catch::Contains("averaged over 2") && Catch::Contains("50.00 % ± 14.14") &&
                       Catch::Contains("validation, error") && Catch::Contains("test, error"));
  summary["test"]["samples"] = 1, summary.erase("validation");
  const std::string single = readable_classifier_summary(summary);
  CHECK_THAT(single, !Catch::Contains("averaged over") && !Catch::Contains("validation, error") &&
                         !Catch::Contains("one sample") && Catch::Contains("of predictions (weights at the end)"));
  summary["test"]["final_weights"]["error"]["mean"] = 0.25;  // a sample that is not where the training ended
  CHECK_THAT(readable_classifier_summary(summary), Catch::Contains("one sample") && Catch::Contains("50.00 %") &&
                                                       Catch::Contains("25.00 %") &&
                                                       Catch::Contains("of predictions (one sample)"));
}

}  // namespace stein::training
