// Images changed against networks: directions by hand, the ball and the range of pixels, averages and single draws.
#include <stein/inference/models/particle_mlp.h>
#include <stein/supervised/images/fast_gradient_sign.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "core/error_matcher.h"
#include "training/method_with.h"

namespace stein::supervised {
namespace {

/// Images of 1 x 2 pixels in two classes.
std::shared_ptr<const ImageSet> pairs() {
  ImageSet set{.name = "pairs", .classes = {"left", "right"}, .shape = {.channels = 1, .height = 1, .width = 2}};
  set.pixels = {200, 100, 60, 220, 130, 120, 0, 255};
  set.labels = {0, 1, 0, 1};
  return std::make_shared<const ImageSet>(std::move(set));
}

const PixelScale scale{.mean = {0.4}, .deviation = {0.5}};

/// Two particles whose logits are those of the brighter pixel, the second with the pixels' parts changed by `turn`.
std::unique_ptr<training::NetworkWeights> brighter(float sharpness, float turn) {
  inference::MlpSpec spec{.inputs = 2, .outputs = 2, .likelihood = inference::Likelihood::categorical};
  auto made = std::make_unique<training::NetworkWeights>(test::method_with("svgd", {{"particles", "2"}}),
                                                         std::make_unique<inference::ParticleMlp>(spec),
                                                         training::DataFacts{.size = 4}, 0);
  training::NetworkWeights& weights = *made;
  const inference::LayoutEntry& matrix = weights.particles().layout().at("layer0.weight");
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::span<float> row = weights.particles().values().row(i);
    std::ranges::fill(row, 0.0F);
    const float other = i == 0 ? 0 : turn;
    for (const std::int64_t c : {0, 1}) {
      row[static_cast<std::size_t>(matrix.offset + c)] = (c == 0 ? sharpness : 0) + (c == 1 ? other : 0);
      row[static_cast<std::size_t>(matrix.offset + matrix.row_stride + c)] = (c == 1 ? sharpness : 0);
    }
  }
  return made;
}

ImageRows rows_of(const std::shared_ptr<const ImageSet>& set) {
  return {set, {0, 1, 2, 3}, scale, {}};
}

TEST_CASE("pixels are moved by the size in units of black to white, and no further than these",
          "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows = rows_of(set);
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  const inference::MatrixView<const float> inputs = rows.inputs(all).dense;
  const auto pixel = [](float input) { return 0.4 + 0.5 * static_cast<double>(input); };  // in [0, 1]
  for (const double size : {0.1, -0.3, 1.0})
    for (std::int64_t i = 0; i < 4; ++i) {
      std::vector<float> row(inputs.row(i).begin(), inputs.row(i).end());
      const std::vector<float> direction{-3, i == 1 ? 0.0F : 0.2F};
      rows.change(row, direction, size);
      const double first = set->image(i)[0] / 255.0, second = set->image(i)[1] / 255.0;
      CHECK(pixel(row[0]) == Approx(std::clamp(first - size, 0.0, 1.0)).margin(1e-6));
      CHECK(pixel(row[1]) == Approx(i == 1 ? second : std::clamp(second + size, 0.0, 1.0)).margin(1e-6));
    }
}

TEST_CASE("a change against a network makes its likeliest class less likely, whatever the label",
          "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows = rows_of(set);
  const auto made = brighter(2, 0);
  training::NetworkWeights& weights = *made;  // both particles are alike
  training::WeightDraws draws(weights, {}, {}, 0);
  FastGradientSign attack(rows, weights.posterior().model(), {0, 0.02, 0.21, 1});
  const auto found = attack.against_average(draws);
  // Differences of the pixels are 100, −160, 10 and −255 of 255: the brighter one loses 2 ζ of it.
  const std::vector<double> errors{0, 0.25, 0.5, 1};
  for (std::size_t s = 0; s < errors.size(); ++s) {
    CHECK(found[s].averaged().error == errors[s]);
    CHECK(found[s].samples() == 2);
  }
  CHECK(attack.errors_against_each(draws) == errors);
}

TEST_CASE("averages are attacked along the gradient of their own log probability", "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows = rows_of(set);
  // Under the second particle the left pixel speaks for both classes alike, so that only the right one can be moved
  // against it; under the first both can.
  const auto made = brighter(1, 3);
  training::NetworkWeights& weights = *made;
  training::WeightDraws draws(weights, {}, {}, 0);
  auto& model = weights.posterior().model();
  constexpr double size = 0.05;
  const auto found = FastGradientSign(rows, model, {0, size}).against_average(draws);
  const inference::Predictive unchanged = found[0].predictive(), changed = found[1].predictive();
  const inference::MatrixView<const double> before = unchanged.mean(), after = changed.mean();
  // Of all changes of the corners of the ball none lowers the averaged probability more: for small sizes.
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t likeliest = before(i, 0) > before(i, 1) ? 0 : 1;
    double least = 1;
    for (const float left : {-1.0F, 1.0F})
      for (const float right : {-1.0F, 1.0F}) {
        const auto dense = rows.inputs(all).dense;
        std::vector<float> row(dense.row(i).begin(), dense.row(i).end()), logits(2);
        rows.change(row, std::vector<float>{left, right}, size);
        double mean = 0;
        for (std::int64_t k = 0; k < 2; ++k) {
          inference::Inputs<float> inputs;
          inputs.dense = {row.data(), 1, 2};
          model.predict(draws.get(k).weights, inputs, {logits.data(), 1, 2});
          mean += 0.5 / (1 + std::exp(static_cast<double>(logits[1 - likeliest]) - logits[likeliest]));
        }
        least = std::min(least, mean);
      }
    CHECK(after(i, likeliest) == Approx(least).epsilon(1e-5));
  }
}

TEST_CASE("an image is changed by its own gradient, wherever it stands among many", "[supervised][attack]") {
  constexpr std::int64_t count = 600;  // more than are changed together
  ImageSet forward{.name = "many", .classes = {"left", "right"}, .shape = {.channels = 1, .height = 1, .width = 2}};
  std::uint32_t state = 7;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < 2; ++k)
      forward.pixels.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
    forward.labels.push_back(static_cast<std::uint8_t>(i % 2));
  }
  ImageSet backward = forward;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 2; ++k) backward.pixels[2 * i + k] = forward.pixels[2 * (count - 1 - i) + k];
    backward.labels[i] = forward.labels[count - 1 - i];
  }
  std::vector<std::int64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::int64_t>(i);
  const auto made = brighter(1, 3);
  training::WeightDraws draws(*made, {}, {}, 0);
  const auto attacked = [&](ImageSet set) {
    ImageRows rows(std::make_shared<const ImageSet>(std::move(set)), all, scale, {});
    return FastGradientSign(rows, made->posterior().model(), {0.1}).against_average(draws)[0].predictive();
  };
  const inference::Predictive first = attacked(std::move(forward)), second = attacked(std::move(backward));
  for (std::int64_t i = 0; i < count; ++i) CHECK(first.mean()(i, 0) == second.mean()(count - 1 - i, 0));
}

TEST_CASE("errors against each draw are means over attacks on one at a time", "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows = rows_of(set);
  const auto both = brighter(1, 3), first = brighter(1, 0), second = brighter(1, 3);
  std::ranges::copy(second->particles().values().row(1), second->particles().values().row(0).begin());
  const std::vector<double> sizes{0.02, 0.1, 0.3};
  const auto errors = [&](training::NetworkWeights& weights) {
    training::WeightDraws draws(weights, {}, {}, 0);
    return FastGradientSign(rows, weights.posterior().model(), sizes).errors_against_each(draws);
  };
  const std::vector<double> found = errors(*both), one = errors(*first), other = errors(*second);
  for (std::size_t s = 0; s < sizes.size(); ++s) CHECK(found[s] == Approx((one[s] + other[s]) / 2));
}

TEST_CASE("with an sd of their own in every place pixels are moved by the same shares", "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows(set, {0, 1, 2, 3}, {.mean = {0.4, 0.2}, .deviation = {0.5, 0.1}}, {});
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  const inference::MatrixView<const float> inputs = rows.inputs(all).dense;
  for (std::int64_t i = 0; i < 4; ++i) {
    std::vector<float> row(inputs.row(i).begin(), inputs.row(i).end());
    rows.change(row, std::vector<float>{-1, 1}, 0.1);
    CHECK(0.4 + 0.5 * row[0] == Approx(std::clamp(set->image(i)[0] / 255.0 - 0.1, 0.0, 1.0)).margin(1e-6));
    CHECK(0.2 + 0.1 * row[1] == Approx(std::clamp(set->image(i)[1] / 255.0 + 0.1, 0.0, 1.0)).margin(1e-6));
  }
}

TEST_CASE("sizes outside of the range of pixels are refused", "[supervised][attack]") {
  const auto set = pairs();
  ImageRows rows = rows_of(set);
  const auto made = brighter(1, 0);
  training::NetworkWeights& weights = *made;
  CHECK_ERROR(FastGradientSign(rows, weights.posterior().model(), {0.1, 1.5}), usage, "got 1.5");
}

}  // namespace
}  // namespace stein::supervised
