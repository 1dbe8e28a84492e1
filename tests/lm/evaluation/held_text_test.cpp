// What is said of a text that is kept from training, against probabilities by hand.
#include <stein/lm/evaluation/held_text.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/mean_model.h"
#include "training/method_with.h"

namespace stein::lm {
namespace {

using training::NetworkWeights;

NetworkWeights weights_of(const std::string& method, const test::Settings& settings = {}) {
  return {test::method_with(method, settings), std::make_unique<test::MeanModel>(), {.size = 8, .minibatches = 8}, 0};
}

/// A text of three tokens, to which weights that begin with w give the probabilities w, 1 − w and w².
/// @param rows  takes the number of every row of weights that was scored
HeldText three_tokens(std::vector<std::int64_t>& rows) {
  return {3, "by hand",
          [&rows](inference::Model<float>&, const inference::ParticleRows<const float>& weights,
                  std::span<float> log_probability) {
            REQUIRE(weights.values.rows == 1);
            REQUIRE(log_probability.size() == 3);
            rows.push_back(weights.first_row);
            const float w = weights.values(0, 0);
            log_probability[0] = std::log(w), log_probability[1] = std::log(1 - w);
            log_probability[2] = 2 * std::log(w);
          }};
}

double loss_of(double first, double second, double third) {
  return -(std::log(first) + std::log(second) + std::log(third)) / 3;
}

// Weights of 1/4 and 3/4, each alone and on average.
const double quarter = loss_of(0.25, 0.75, 1. / 16), three_quarters = loss_of(0.75, 0.25, 9. / 16),
             both = loss_of(0.5, 0.5, 5. / 16);

TEST_CASE("what particles say of a text is averaged, as probabilities", "[lm][held-text]") {
  NetworkWeights weights = weights_of("svgd", {{"particles", "2"}});
  weights.particles().values()(0, 0) = 0.25F, weights.particles().values()(1, 0) = 0.75F;
  std::vector<std::int64_t> rows;
  HeldText text = three_tokens(rows);
  CHECK(text.loss_of_weights(weights) == Approx(both).epsilon(1e-6));
  CHECK(rows == std::vector<std::int64_t>{0, 1});
  const TextLosses losses = text.losses(weights, 10, 0, 5, {});
  CHECK(losses.protocol == "by hand");
  CHECK(losses.tokens == 3);
  CHECK(losses.samples == 2);
  CHECK(losses.final_weights == Approx(both).epsilon(1e-6));
  CHECK(losses.averaged == Approx(both).epsilon(1e-6));
  CHECK(losses.single == Approx((quarter + three_quarters) / 2).epsilon(1e-6));
  REQUIRE(losses.curves.forward.size() == 2);
  CHECK(losses.curves.forward[0] == Approx(quarter).epsilon(1e-6));
  CHECK(losses.curves.backward[0] == Approx(three_quarters).epsilon(1e-6));
  CHECK_FALSE(losses.chosen.has_value());
}

TEST_CASE("a chain's samples are what its weights were when they were taken", "[lm][held-text]") {
  NetworkWeights weights = weights_of("sgld");
  std::vector<std::int64_t> rows;
  HeldText text = three_tokens(rows);
  for (const float w : {0.25F, 0.75F, 0.125F}) {
    weights.particles().values()(0, 0) = w;
    text.take_sample(weights);
  }
  text.drop_samples(1);
  weights.particles().values()(0, 0) = 0.5F;
  const TextLosses losses = text.losses(weights, 10, 0, 5, {});
  CHECK(losses.samples == 2);
  CHECK(losses.final_weights == Approx(loss_of(0.5, 0.5, 0.25)).epsilon(1e-6));
  CHECK(losses.averaged == Approx(both).epsilon(1e-6));
  CHECK(losses.single == Approx((quarter + three_quarters) / 2).epsilon(1e-6));
}

TEST_CASE("every chain gives a sample of a text, with the row that is its own", "[lm][held-text]") {
  NetworkWeights weights = weights_of("sgld", {{"chains", "2"}});
  weights.particles().values()(0, 0) = 0.25F, weights.particles().values()(1, 0) = 0.75F;
  std::vector<std::int64_t> rows;
  HeldText text = three_tokens(rows);
  text.take_sample(weights);
  CHECK(rows == std::vector<std::int64_t>{0, 1});
  const TextLosses losses = text.losses(weights, 10, 0, 5, {});
  CHECK(losses.samples == 2);
  CHECK(losses.averaged == Approx(both).epsilon(1e-6));
  CHECK(losses.single == Approx((quarter + three_quarters) / 2).epsilon(1e-6));
  CHECK(losses.final_weights == Approx(both).epsilon(1e-6));
}

TEST_CASE("draws of a variational method are those of the seed", "[lm][held-text]") {
  NetworkWeights weights = weights_of("bbb");
  for (const inference::LayoutEntry& entry : weights.particles().layout().entries())  // narrow, around ¼
    weights.particles().values()(0, entry.offset) = entry.role == inference::Role::log_deviation ? -6.0F : 0.25F;
  const auto single = [&](std::uint64_t seed) {
    std::vector<std::int64_t> rows;
    return three_tokens(rows).losses(weights, 3, seed, 5, {}).single;
  };
  CHECK(single(1) == single(1));
  CHECK(single(1) != single(2));
}

TEST_CASE("the draws that were scored are saved, and scored again only for other weights", "[lm][held-text]") {
  NetworkWeights weights = weights_of("bbb");
  for (const inference::LayoutEntry& entry : weights.particles().layout().entries())  // about a half
    weights.particles().values()(0, entry.offset) = entry.role == inference::Role::log_deviation ? -3.0F : 0.5F;
  std::vector<std::int64_t> rows, again;
  HeldText text = three_tokens(rows), restored = three_tokens(again);
  const TextLosses whole = three_tokens(rows).losses(weights, 4, 1, 5, {});
  rows.clear();

  Snapshot kept;
  StopToken stop;
  SilentProgress progress;
  const std::function<void()> keep = [&] {
    if (rows.size() < 3) return;  // the mean and two draws
    text.save(kept);
    stop.request_stop();
  };
  text.losses(weights, 4, 1, 5, {stop, progress, keep});
  CHECK(rows.size() == 3);
  restored.restore(kept);
  const TextLosses found = restored.losses(weights, 4, 1, 5, {});
  CHECK(again.size() == 3);  // the mean, and the two that were missing
  CHECK(found.averaged == whole.averaged);
  CHECK(found.single == whole.single);
  CHECK(found.curves.forward == whole.curves.forward);

  restored.losses(weights, 4, 1, 6, {});  // the training went on
  CHECK(again.size() == 3 + 5);
  restored.losses(weights, 2, 1, 6, {});  // other draws are asked for
  CHECK(again.size() == 3 + 5 + 3);
  restored.forget_draws();
  Snapshot without;
  restored.save(without);
  CHECK_FALSE(without.contains("draws_step"));
}

TEST_CASE("of a variational method the mean is scored as it is", "[lm][held-text]") {
  NetworkWeights weights = weights_of("bbb");
  const auto place = weights.particles().layout().at("recurrent0.weight").offset;
  weights.particles().values()(0, place) = 0.25F;
  std::vector<std::int64_t> rows;
  CHECK(three_tokens(rows).loss_of_weights(weights) == Approx(quarter).epsilon(1e-6));
}

}  // namespace
}  // namespace stein::lm
