// The weights that predictions are averaged over, by the laws and numbers that they come from.
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/training/weight_draws.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "training/mean_model.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

NetworkWeights drawing_sampler(const std::string& name, const test::Settings& settings) {
  return {test::method_with(name, settings), std::make_unique<test::MeanModel>(), {.size = 8, .minibatches = 8}, 0};
}

std::vector<float> row_of(const WeightDraws::Draw& draw) {
  CHECK(draw.weights.values.rows == 1);
  const auto row = draw.weights.values.row(0);
  return {row.begin(), row.end()};
}

TEST_CASE("a draw for predictions is one set of weights, however many draws a step takes", "[training][draws]") {
  for (const char* const method : {"bbb", "vmg"}) {
    CAPTURE(method);
    NetworkWeights weights = drawing_sampler(method, {{"weight_samples", "3"}});
    REQUIRE(weights.weight_rows() == 3);
    WeightDraws draws(weights, {.draws = 2, .seed = 2}, "", 0);
    CHECK(row_of(draws.get(0)) != row_of(draws.get(1)));  // row_of checks that it is one row
    CHECK(draws.all().rows() == 2);
  }
}

TEST_CASE("draws of a variational method have its mean and deviation, and are the same each time",
          "[training][draws]") {
  NetworkWeights weights = drawing_sampler("bbb", {});
  const inference::Layout& layout = weights.particles().layout();
  const auto values = weights.particles().values().row(0);
  values[static_cast<std::size_t>(layout.at("output.weight").offset)] = 3;
  values[static_cast<std::size_t>(layout.at("output.weight.log_deviation").offset)] =
      static_cast<float>(inference::inverse_softplus(0.5));
  constexpr std::int64_t count = 4000;
  WeightDraws draws(weights, {.draws = count, .seed = 2}, "", 0);
  REQUIRE(draws.count() == count);
  double sum = 0, square = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double draw = row_of(draws.get(k))[1];
    sum += draw - 3, square += (draw - 3) * (draw - 3);
  }
  // The mean's standard error is 0.5/√n, that of the mean square 0.25 √(2/n).
  CHECK(std::abs(sum / count) < 6.1 * 0.5 / std::sqrt(count));
  CHECK(std::abs(square / count - 0.25) < 6.1 * 0.25 * std::sqrt(2.0 / count));
  const std::vector<float> first = row_of(draws.get(0));
  CHECK(first != row_of(draws.get(1)));
  CHECK(first == row_of(draws.get(0)));
  CHECK(first == row_of(WeightDraws(weights, {.draws = 1, .seed = 2}, "", 0).get(0)));
  CHECK(first != row_of(WeightDraws(weights, {.draws = 1, .seed = 3}, "", 0).get(0)));
  const NoiseKey key{.seed = 2, .stream = Stream::parameterization};
  inference::Matrix<float> memory, of_a_step;
  const float drawn = weights.draw_weights(key, memory)(0, 1);
  CHECK(drawn != weights.posterior().weights_of(weights.particles().coordinates(), key, of_a_step)(0, 1));
  WeightDraws mean(weights, {.draws = 9, .mean = true}, "", 0);
  CHECK(mean.count() == 1);
  CHECK(row_of(mean.get(0))[1] == 3);
}

TEST_CASE("particles are drawn one after the other, and an optimizer's weights are one draw", "[training][draws]") {
  NetworkWeights ensemble = drawing_sampler("svgd", {{"particles", "3"}});
  for (std::int64_t i = 0; i < 3; ++i) ensemble.particles().values()(i, 0) = static_cast<float>(i + 1);
  WeightDraws particles(ensemble, {.draws = 99}, "", 0);
  REQUIRE(particles.count() == 3);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(row_of(particles.get(i))[0] == static_cast<float>(i + 1));
  CHECK_ERROR(particles.get(3), usage, "from 0 to 2, got 3");
  CHECK_ERROR(particles.get(-1), usage, "got -1");

  NetworkWeights optimizer = drawing_sampler("sgd", {});
  optimizer.particles().values()(0, 0) = 5;
  WeightDraws one(optimizer, {.draws = 99}, "", 0);
  CHECK(one.count() == 1);
  CHECK(row_of(one.get(0)) == std::vector<float>{5, 0});
  CHECK_FALSE(one.get(0).dropout.has_value());
  CHECK_ERROR(WeightDraws(optimizer, {.draws = 0}, "", 0), usage, "at least 1 draw, got 0");
}

TEST_CASE("a draw of a structured ensemble is what one of its particles stands for", "[training][draws]") {
  auto network = std::make_unique<inference::ParticleMlp>(inference::MlpSpec{.inputs = 3, .hidden = {4}});
  NetworkWeights ensemble(test::method_with("s2vgd", {{"particles", "3"}}), std::move(network),
                          {.size = 8, .minibatches = 8}, 0);
  REQUIRE_FALSE(ensemble.posterior().parameterization().passes_through());
  inference::Matrix<float> memory;
  const inference::MatrixView<const float> all =
      ensemble.posterior().weights_of(ensemble.particles().coordinates(), {}, memory);
  WeightDraws draws(ensemble, {}, "", 0);
  REQUIRE(draws.count() == 3);
  for (std::int64_t k = 0; k < 3; ++k) {
    const auto row = all.row(k);
    CHECK(row_of(draws.get(k)) == std::vector<float>(row.begin(), row.end()));
    CHECK(draws.get(k).weights.first_row == k);
  }
  CHECK(row_of(draws.get(0)) != row_of(draws.get(1)));
}

TEST_CASE("with dropout there are as many draws as asked for, each particle in its turn, each with masks of its own",
          "[training][draws]") {
  NetworkWeights ensemble = drawing_sampler("svgd", {{"particles", "3"}});
  for (std::int64_t i = 0; i < 3; ++i) ensemble.particles().values()(i, 0) = static_cast<float>(i + 1);
  WeightDraws draws(ensemble, {.draws = 5, .dropout = true, .seed = 8}, "", 0);
  REQUIRE(draws.count() == 5);
  for (std::int64_t k = 0; k < 5; ++k) {
    const WeightDraws::Draw draw = draws.get(k);
    CHECK(row_of(draw)[0] == static_cast<float>(k % 3 + 1));
    REQUIRE(draw.dropout.has_value());
    CHECK(draw.dropout->seed == 8);
    CHECK(draw.dropout->step == static_cast<std::uint64_t>(k));
    // Minibatch p of draw k has the key k 2²⁴ + p: no two of them are the same.
    CHECK(piece_key(draw.dropout, 7)->step == static_cast<std::uint64_t>(k) * 16'777'216 + 7);
  }
  CHECK(WeightDraws(ensemble, {.draws = 2, .dropout = true}, "", 0).count() == 3);  // never fewer than particles
  CHECK_FALSE(piece_key(std::nullopt, 7).has_value());
}

TEST_CASE("a chain's draws are its stored samples, of which none may be missing", "[training][draws]") {
  const test::TemporaryDirectory folder;
  NetworkWeights chain = drawing_sampler("sgld", {});
  auto stored = inference::SampleReservoir<float>::create(folder / "samples");
  for (const float value : {1.0F, 2.0F}) {
    chain.particles().values()(0, 0) = value;
    stored.add(chain.particles());
  }
  chain.particles().values()(0, 0) = 9;
  WeightDraws draws(chain, {}, folder / "samples", 2);
  REQUIRE(draws.count() == 2);
  CHECK(row_of(draws.get(1))[0] == 2);
  CHECK(row_of(draws.get(0))[0] == 1);
  CHECK(chain.particles().values()(0, 0) == 9);
  WeightDraws one(chain, {}, folder / "samples", 1);  // what was stored after a checkpoint is not of the run
  CHECK(one.count() == 1);
  CHECK(row_of(WeightDraws(chain, {.mean = true}, folder / "samples", 2).get(0))[0] == 9);
  CHECK(row_of(WeightDraws(chain, {}, folder / "nowhere", 0).get(0))[0] == 9);
  CHECK_ERROR(WeightDraws(chain, {}, folder / "samples", 3), data, "holds 2 samples", "stored 3");
  CHECK_ERROR(WeightDraws(chain, {}, folder / "nowhere", 1), data, "nowhere");
}

TEST_CASE("of several chains every stored sample has a draw of each, and so have the weights where they ended",
          "[training][draws]") {
  const test::TemporaryDirectory folder;
  NetworkWeights chains = drawing_sampler("sgld", {{"chains", "2"}});
  auto stored = inference::SampleReservoir<float>::create(folder / "samples");
  const auto set = [&](float first, float second) {
    chains.particles().values()(0, 0) = first, chains.particles().values()(1, 0) = second;
  };
  set(1, 2), stored.add(chains.particles());
  set(3, 4), stored.add(chains.particles());
  set(8, 9);
  WeightDraws draws(chains, {}, folder / "samples", 2), ends(chains, {.mean = true}, folder / "samples", 2);
  REQUIRE(draws.count() == 4);
  for (const std::int64_t k : {3, 0, 1, 2, 2, 0}) {
    CHECK(row_of(draws.get(k))[0] == static_cast<float>(k + 1));
    CHECK(draws.get(k).weights.first_row == k % 2);
  }
  REQUIRE(ends.count() == 2);
  CHECK(row_of(ends.get(0))[0] == 8);
  CHECK(row_of(ends.get(1))[0] == 9);
}

TEST_CASE("several chains under a spike and slab are refused", "[training][draws]") {
  CHECK_ERROR(drawing_sampler("sgld-sa", {{"chains", "2"}}), usage, "'chains'", "expected 1, got 2");
}

}  // namespace
}  // namespace stein::training
