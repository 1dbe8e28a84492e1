// Training of language models: what is carried, resumed, repeated and collected.
#include <stein/core/checkpoint.h>
#include <stein/core/parallel.h>
#include <stein/training/network_experiment.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "lm/language/trained_text.h"

namespace stein::lm {
namespace {

using test::TrainerCase;

const LanguageTrainingOptions short_training{
    .epochs = {.batch_size = 4, .epochs = 3, .burn_in = 0.4, .samples_per_epoch = 3, .draws = 3}, .unroll = 6};

std::vector<TrainerCase> all_methods() {
  std::vector<TrainerCase> cases;
  for (const std::string& name : training::methods_for(training::NetworkInputs::words)) {
    TrainerCase each{.method = name, .settings = {{"step_size", "1e-3"}}, .training = short_training};
    each.network.dropout = 0.2;
    if (name == "svgd" || name == "s2vgd") each.settings["particles"] = "2";
    cases.push_back(each);
  }
  return cases;
}

std::vector<double> numbers_of(LanguageTrainer& trainer) {
  const TextLosses validation = trainer.validation_losses(), test = trainer.test_losses();
  return {validation.single, validation.averaged, validation.final_weights, validation.chosen.value_or(0),
          test.single,       test.averaged,       test.final_weights,       test.chosen.value_or(0)};
}

TEST_CASE("every method goes on from the middle of an epoch with the same bits", "[lm][trainer][resume]") {
  const int threads = thread_count();
  const Corpus corpus = test::small_text(600);
  for (const TrainerCase& each : all_methods()) {
    CAPTURE(each.method);
    const test::TemporaryDirectory folder;
    set_thread_count(1);
    const auto whole = each.make(corpus);
    test::train(*whole);
    const auto first = each.make(corpus);
    test::train(*first, 700);
    REQUIRE(first->steps_done() % (first->epoch().minibatches * 24) != 0);
    Snapshot state;
    first->save(state);
    save_checkpoint(folder.path(), 1, state);
    set_thread_count(2);
    const auto second = each.make(corpus);
    second->restore(load_latest_checkpoint(folder.path())->state);
    CHECK(second->steps_done() == first->steps_done());
    test::train(*second);
    CHECK(numbers_of(*second) == numbers_of(*whole));
    Snapshot a, b;
    whole->save(a);
    second->save(b);
    CHECK(a.texts() == b.texts());
    REQUIRE(a.arrays().size() == b.arrays().size());
    for (const auto& [name, array] : a.arrays()) {
      INFO(name);
      CHECK(array.bytes == b.arrays().at(name).bytes);
    }
  }
  set_thread_count(threads);
}

TEST_CASE("the same seed trains the same network, another seed another one", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  const TrainerCase each{.method = "psgld", .training = short_training};
  const auto one = each.make(corpus, 1), again = each.make(corpus, 1), other = each.make(corpus, 2);
  const auto loss_curve = [](LanguageTrainer& trainer) {
    runs::Records records(false);
    while (!trainer.ended()) trainer.advance(1'000'000, {}, records);
    std::vector<double> losses;
    for (const runs::Records::Number& number : records.numbers())
      if (number.tag == "loss") losses.push_back(number.value);
    return losses;
  };
  const std::vector<double> curve = loss_curve(*one);
  CHECK(curve.size() > 30);
  CHECK(curve == loss_curve(*again));
  CHECK(curve != loss_curve(*other));
  CHECK(numbers_of(*one) == numbers_of(*again));
  CHECK(numbers_of(*one) != numbers_of(*other));
}

TEST_CASE("in training, state goes from minibatch to minibatch of an epoch, or each begins from zero",
          "[lm][trainer]") {
  using State = LanguageTrainingOptions::State;
  const Corpus corpus = test::small_text(600);
  for (const State state : {State::carried, State::zero}) {
    CAPTURE(state == State::zero);
    LanguageTrainingOptions training = short_training;
    training.epochs.epochs = 2, training.state = state;
    TrainerCase each{.method = "sgd", .settings = {{"step_size", "1e-12"}}, .training = training};
    each.network.start = inference::RecurrentStart::fan_in;  // a network whose words depend on those before
    const auto trainer = each.make(corpus);
    runs::Records records(false);
    while (!trainer->ended()) trainer->advance(1'000'000, {}, records);
    // The weights stay where they are: the loss of each minibatch is what the text costs them.
    TextScorer scorer(corpus.train, state == State::zero ? TextProtocol::zero_state : TextProtocol::stateful, 4, 6,
                      "training");
    std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
    inference::Matrix<float> memory;
    scorer.score(trainer->weights().posterior().model(), {trainer->weights().weights_now(memory), 0}, std::nullopt,
                 log_probability);
    std::size_t minibatch = 0;
    for (const runs::Records::Number& number : records.numbers()) {
      if (number.tag != "loss") continue;
      const auto own = std::span(log_probability).subspan(minibatch++ % 24 * 24, 24);
      CHECK(number.value == Approx(mean_loss(own)).epsilon(1e-5));
    }
    CHECK(minibatch == 48);
  }
}

TEST_CASE("a chain's samples are taken after the burn-in, so many an epoch", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);  // 4 rows of 150: 24 minibatches of 6 steps
  const auto trainer =
      TrainerCase{.method = "sgld", .settings = {{"step_size", "1e-6"}}, .training = short_training}.make(corpus);
  CHECK(trainer->epoch().minibatches == 24);
  test::train(*trainer);
  CHECK(trainer->steps_done() == 3 * 24 * 24);
  // 72 minibatches less 28 of burn-in, one sample every 8.
  CHECK(trainer->test_losses().samples == 5);
  const TextLosses test = trainer->test_losses();
  CHECK(test.tokens == 119);
  CHECK(test.averaged <= test.single);
  CHECK(test.curves.forward.size() == 5);
  CHECK(test.curves.backward.back() == Approx(test.averaged).epsilon(1e-9));
}

TEST_CASE("without samples to average all losses are those of the weights at the end", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  const auto trainer = TrainerCase{.method = "adam", .training = short_training}.make(corpus);
  test::train(*trainer);
  const TextLosses losses = trainer->test_losses();
  CHECK(losses.samples == 1);
  CHECK(losses.single == losses.final_weights);
  CHECK(losses.averaged == losses.final_weights);
  CHECK(losses.chosen.has_value());
  CHECK(losses.curves.forward.empty());
}

/// Mean −log p of a text's tokens under the weights as they are: the mean of a Gaussian, particles on average.
double loss_of(LanguageTrainer& trainer, const Stretches& text) {
  TextScorer scorer(text, TextProtocol::stateful_1, 0, 0, "by hand");
  inference::Matrix<float> memory;
  const inference::MatrixView<const float> rows = trainer.weights().weights_now(memory);
  std::vector<float> own(static_cast<std::size_t>(scorer.tokens()));
  std::vector<double> probability(own.size());
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    scorer.score(trainer.weights().posterior().model(), {rows.block(i, 1), i}, std::nullopt, own);
    for (std::size_t t = 0; t < own.size(); ++t)
      probability[t] += std::exp(double{own[t]}) / static_cast<double>(rows.rows);
  }
  double sum = 0;
  for (const double p : probability) sum -= std::log(p);
  return sum / static_cast<double>(probability.size());
}

TEST_CASE("validation and test are texts of their own, and validation alone chooses the weights", "[lm][trainer]") {
  Corpus corpus = test::small_text(600);
  corpus.validation[0].resize(60);
  for (const char* method : {"adam", "bbb", "svgd"}) {
    CAPTURE(method);
    TrainerCase each{.method = method, .settings = {{"step_size", "1e-2"}}, .training = short_training};
    if (each.method == "svgd") each.settings["particles"] = "2";
    const auto trainer = each.make(corpus);
    runs::Records records(false);
    while (!trainer->ended()) trainer->advance(1'000'000, {}, records);
    std::vector<double> scores;
    for (const runs::Records::Number& number : records.numbers())
      if (number.tag == "validation") scores.push_back(number.value);
    REQUIRE(scores.size() == 3);  // one an epoch, the last of them at the end
    CHECK(scores.back() == Approx(loss_of(*trainer, corpus.validation)).epsilon(1e-6));
    CHECK(scores.back() != Approx(loss_of(*trainer, corpus.test)).epsilon(1e-4));
    const TextLosses validation = trainer->validation_losses(), test = trainer->test_losses();
    CHECK(validation.tokens == 59);
    CHECK(test.tokens == 119);
    CHECK(validation.final_weights == Approx(loss_of(*trainer, corpus.validation)).epsilon(1e-6));
    CHECK(test.final_weights == Approx(loss_of(*trainer, corpus.test)).epsilon(1e-6));
    trainer->restore_best();
    const double least = *std::ranges::min_element(scores);
    CHECK(trainer->validation()->best()->score == least);
    CHECK(loss_of(*trainer, corpus.validation) == Approx(least).epsilon(1e-6));
    REQUIRE(validation.chosen.has_value());
    CHECK(*validation.chosen == Approx(least).epsilon(1e-6));
    CHECK(*test.chosen == Approx(loss_of(*trainer, corpus.test)).epsilon(1e-6));
  }
}

TEST_CASE("Bayes by Backprop with σ → 0 and no divergence to pay is the optimizer itself", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  const TrainerCase plain{.method = "sgd", .settings = {{"step_size", "1e-3"}}, .training = short_training};
  TrainerCase bayes{.method = "bbb",
                    .settings = {{"step_size", "1e-3"},
                                 {"optimizer", "sgd"},
                                 {"momentum", "0"},
                                 {"initial_deviation_low", "1e-12"},
                                 {"initial_deviation_high", "1e-12"},
                                 {"prior", "gaussian"},
                                 {"weight_precision", "1e-12"}},
                    .training = short_training};
  const auto one = plain.make(corpus), other = bayes.make(corpus);
  test::train(*one), test::train(*other);  // three epochs, through which state is carried
  const auto& weights = one->weights().particles().values();
  inference::Matrix<float> memory;
  const auto means = other->weights().mean_weights(memory);
  for (std::int64_t q = 0; q < weights.columns; ++q) CHECK(std::abs(weights(0, q) - means(0, q)) < 1e-6);
}

TEST_CASE("rates of a loss per sequence are those of the full joint times T/N", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  // N = 576 tokens in batches of 6 steps: h = 6/576 of the rate; clipping at 96 of the joint is 1 of the sequence.
  const TrainerCase joint{.method = "sgd",
                          .settings = {{"step_size", "0.0005208333333333333"}, {"clip_norm", "96"}},
                          .training = short_training};
  const TrainerCase sequence{.method = "sgd",
                             .settings = {{"step_size", "0.05"}, {"clip_norm", "1"}, {"rate_unit", "sequence"}},
                             .training = short_training};
  const auto one = joint.make(corpus), other = sequence.make(corpus);
  CHECK(one->epoch().data == 576);
  test::train(*one), test::train(*other);
  CHECK(numbers_of(*one) == numbers_of(*other));
}

TEST_CASE("the step size falls at the start of every epoch after those at the full rate", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  LanguageTrainingOptions training = short_training;
  const auto loss_after = [&](double decay, std::int64_t full) {
    training.epochs.rate_decay = decay, training.epochs.full_rate_epochs = full;
    const auto trainer =
        TrainerCase{.method = "sgd", .settings = {{"step_size", "1e-3"}}, .training = training}.make(corpus);
    test::train(*trainer);
    return trainer->test_losses().final_weights;
  };
  CHECK(loss_after(1, 1) == loss_after(0.5, 3));  // of three epochs
  CHECK(loss_after(1, 1) != loss_after(0.5, 2));
  CHECK(loss_after(0.5, 1) != loss_after(0.5, 2));
}

TEST_CASE("a chain that diverges goes back, begins a new state and says so", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  for (const char* method : {"sgld", "svgd", "bbb"}) {
    CAPTURE(method);
    TrainerCase each{.method = method, .settings = {{"step_size", "1e-4"}}, .training = short_training};
    each.training.epochs.epochs = 12;
    const auto trainer = each.make(corpus);
    runs::Records records(false);
    const auto learn_a_minibatch = [&] { trainer->advance(trainer->steps_done() + 1, {}, records); };
    const auto carried = [&] {
      Snapshot state;
      trainer->save(state);
      return state.get_vector<float>("training/stream/state/carried");
    };
    const auto is_zero = [](float number) { return number == 0; };
    constexpr std::int64_t before = 260;  // a state is kept behind 256, in the middle of an epoch
    for (std::int64_t c = 0; c < before; ++c) learn_a_minibatch();
    CHECK(trainer->steps_done() == before * 24);
    CHECK_FALSE(trainer->warning().has_value());
    CHECK(std::ranges::none_of(carried(), is_zero));
    trainer->weights().particles().values()(0, 0) = std::numeric_limits<float>::quiet_NaN();
    learn_a_minibatch();
    REQUIRE(trainer->warning().has_value());
    CHECK_THAT(*trainer->warning(), Catch::Contains("has gone back 1 time"));
    CHECK(std::ranges::all_of(carried(), is_zero));
    CHECK(trainer->steps_done() == (before + 1) * 24);  // the text goes on
    learn_a_minibatch();
    CHECK(std::ranges::none_of(carried(), is_zero));
    test::train(*trainer);
    for (const double number : numbers_of(*trainer)) CHECK(std::isfinite(number));
  }
}

TEST_CASE("samples of steps that were taken back are in no average, of validation nor of test", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);  // 24 minibatches an epoch
  TrainerCase each{.method = "sgld", .settings = {{"step_size", "1e-6"}}, .training = short_training};
  each.training.epochs.burn_in = 0;
  const auto trainer = each.make(corpus);
  test::train(*trainer, 20 * 24);
  REQUIRE(trainer->steps_done() == 20 * 24);
  for (const TextLosses& losses : {trainer->validation_losses(), trainer->test_losses()}) CHECK(losses.samples == 2);
  trainer->weights().particles().values()(0, 0) = std::numeric_limits<float>::quiet_NaN();
  test::train(*trainer);
  // Both samples are lost with their 20 steps; of the 51 minibatches that are left every eighth gives one.
  for (const TextLosses& losses : {trainer->validation_losses(), trainer->test_losses()}) {
    CHECK(losses.samples == 6);
    CHECK(losses.curves.forward.size() == 6);
  }
}

TEST_CASE("a final score that is asked to stop is not finished", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  TrainerCase each{.method = "bbb", .training = short_training};
  each.training.epochs.draws = 10'000;  // whose scores and curves would take minutes
  const auto trainer = each.make(corpus);
  test::train(*trainer, 48);
  const StopToken stop;
  stop.request_stop();
  CHECK(trainer->test_losses(stop).curves.forward.empty());
}

/// Counts what it is told.
class CountedProgress final : public Progress {
 public:
  std::uint64_t told = 0;

  void begin(std::string_view, std::string_view, std::uint64_t, std::uint64_t) override {}
  void advance(std::uint64_t units) override { told += units; }
  void finish() override {}
};

TEST_CASE("a final score tells of every pass over its text, as many as were promised", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  for (TrainerCase& each : all_methods()) {
    CAPTURE(each.method);
    const bool validates = each.method != "svgd";
    each.training.epochs.epochs = 1;
    if (!validates) each.training.epochs.validations_per_epoch = 0;
    const auto trainer = each.make(corpus);
    test::train(*trainer);
    CountedProgress progress;
    const TextLosses found = trainer->test_losses({StopToken(), progress});
    CHECK(found.chosen.has_value() == validates);
    CHECK(std::cmp_equal(progress.told, trainer->passes()));
  }
}

TEST_CASE("a first step that diverges ends the training", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  TrainerCase each{.method = "sgd", .settings = {{"step_size", "3e36"}}, .training = short_training};
  const auto trainer = each.make(corpus);
  CHECK_ERROR(test::train(*trainer), numeric, "optimizer");
}

TEST_CASE("text that is too short for a minibatch, a validation or a test is named", "[lm][trainer]") {
  const Corpus corpus = test::small_text(600);
  LanguageTrainingOptions training = short_training;
  training.epochs.batch_size = 200;
  CHECK_ERROR((TrainerCase{.method = "sgd", .training = training}.make(corpus)), data, "training part has 600 tokens");
  training.epochs.batch_size = 60, training.protocol = TextProtocol::stateful;
  CHECK_ERROR((TrainerCase{.method = "sgd", .training = training}.make(corpus)), data, "part has 120 tokens");
}

}  // namespace
}  // namespace stein::lm
