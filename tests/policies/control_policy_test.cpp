// Control policies: how particles start, what the networks see and say, and what is saved.
#include <stein/policies/control_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

const envs::ControlSpec numbers{.name = "numbers",
                                .observation = {{.name = "x"}, {.name = "y"}, {.name = "z"}},
                                .action = {{.name = "a", .low = -1, .high = 1}, {.name = "b", .low = -1, .high = 1}}};
const envs::ControlSpec choices{.name = "choices",
                                .observation = {{.name = "x"}, {.name = "y"}},
                                .choices = 3,
                                .action = {{.name = "choice", .low = 0, .high = 2}}};

ControlPolicy::Options small(std::int64_t particles) {
  return {.particles = particles, .hidden = {5}};
}

/// Mean product of the numbers of two particles in `layer0.weight`, which start from N(0, 1/inputs), over the variance.
double correlation(ControlPolicy& policy, std::int64_t first, std::int64_t second) {
  const auto x = policy.particles().view("layer0.weight", first), y = policy.particles().view("layer0.weight", second);
  double sum = 0;
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t c = 0; c < x.columns; ++c) sum += double{x(r, c)} * double{y(r, c)};
  return sum * static_cast<double>(x.rows) / static_cast<double>(x.rows * x.columns);
}

/// Leaves a posterior with its prior alone.
class NoReturn final : public inference::OutputScore<float> {
  bool has_value() const override { return false; }
  double score(std::int64_t, std::int64_t, inference::MatrixView<const float>, std::span<const float>,
               inference::MatrixView<float>, std::span<float>) const override {
    return 0;
  }
};

/// Row i is ∇ log p₀ of particle i.
inference::Matrix<float> prior_gradients(ControlPolicy& policy) {
  inference::Matrix<float> gradients(policy.particle_count(), policy.particles().size());
  const float seen[] = {0.3F, -1, 2};
  const NoReturn nothing;
  policy.target().evaluate(policy.particles().coordinates(),
                           {.inputs = {.dense = {seen, 1, 3}}, .rows = 1, .data_size = 1, .score = &nothing}, {},
                           {.gradient = gradients.view()});
  return gradients;
}

}  // namespace

TEST_CASE("a policy has as many outputs as its distribution wants, and a tanh network behind them",
          "[policies][control]") {
  ControlPolicy policy(small(2), numbers, 1);
  CHECK(policy.distribution().actions() == 2);
  CHECK(policy.distribution().outputs() == 2);
  CHECK(policy.distribution().constants() == 2);
  CHECK(ControlPolicy(small(2), choices, 1).distribution().outputs() == 3);
  ControlPolicy::Options state = small(2);
  state.deviation = Deviation::state;
  CHECK(ControlPolicy(state, numbers, 1).distribution().outputs() == 4);

  // Particle 1 by hand.
  const float seen[] = {0.3F, -1, 2};
  policy.particles().view("constants", 1)(0, 1) = 0.25F;
  policy.refresh();
  std::vector<float> outputs(2);
  const auto parameters = policy.parameters(1, {seen, 1, 3}, {outputs.data(), 1, 2});
  CHECK(parameters.constants[1] == 0.25F);
  const auto w = policy.particles().view("layer0.weight", 1), b = policy.particles().view("layer0.bias", 1),
             v = policy.particles().view("layer1.weight", 1), c = policy.particles().view("layer1.bias", 1);
  for (std::int64_t k = 0; k < 2; ++k) {
    double sum = c(0, k);
    for (std::int64_t h = 0; h < 5; ++h) {
      double inner = b(0, h);
      for (std::int64_t q = 0; q < 3; ++q) inner += double{seen[q]} * double{w(q, h)};
      sum += std::tanh(inner) * double{v(h, k)};
    }
    CHECK(parameters.outputs(0, k) == Approx(sum).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("particles start with the correlation that is asked for, and learned precisions where they are told to",
          "[policies][control]") {
  for (const inference::WeightForm form : {inference::WeightForm::direct, inference::WeightForm::matrix_gaussian}) {
    ControlPolicy::Options options = small(4);
    options.hidden = {20'000};  // 60,000 weights: a correlation is known to 0.004
    options.posterior.parameterization = form;
    options.posterior.structure = {.reflectors = 0};
    options.posterior.prior = {.weight_precision = 4, .learn_weight_precision = true};
    options.initial_correlation = 0.6;
    ControlPolicy policy(options, numbers, 3);
    for (std::int64_t i = 0; i < 4; ++i) {
      CHECK(policy.particles().view("log_weight_precision", i)(0, 0) == Approx(std::log(4)));
      CHECK(correlation(policy, i, i) == Approx(1).margin(0.04));  // 6 sd and more
      for (std::int64_t j = 0; j < i; ++j) CHECK(correlation(policy, i, j) == Approx(0.6).margin(0.04));
    }
  }
  ControlPolicy::Options equal = small(3);
  equal.initial_correlation = 1;
  CHECK(ControlPolicy(equal, numbers, 3).particle_distance() == Approx(0).margin(1e-12));
}

TEST_CASE("the particle distance is the mean squared difference of a weight over all pairs", "[policies][control]") {
  for (const inference::WeightForm form : {inference::WeightForm::direct, inference::WeightForm::matrix_gaussian}) {
    ControlPolicy::Options options = small(4);
    options.hidden = {9};  // rows of weights that are padded
    options.posterior.parameterization = form;
    ControlPolicy policy(options, choices, 3);
    const inference::Layout& layout = policy.posterior().weight_layout();
    std::vector<float> weights(static_cast<std::size_t>(4 * layout.size()));
    policy.posterior().effective_weights(policy.particles().coordinates(), {}, {weights.data(), 4, layout.size()});
    double sum = 0, count = 0;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < i; ++j)
        for (const inference::LayoutEntry& entry : layout.entries())
          for (std::int64_t r = 0; r < entry.rows(); ++r)
            for (std::int64_t c = 0; c < entry.columns(); ++c) {
              const std::int64_t q = entry.offset + r * entry.row_stride + c;
              sum += std::pow(double{weights[static_cast<std::size_t>(i * layout.size() + q)]} -
                                  double{weights[static_cast<std::size_t>(j * layout.size() + q)]},
                              2);
              count += 1;
            }
    CHECK(policy.particle_distance() == Approx(sum / count).epsilon(1e-6));
  }
  CHECK(ControlPolicy(small(1), choices, 3).particle_distance() == 0);
}

TEST_CASE("the largest weight is that of any particle, and of either sign", "[policies][control]") {
  ControlPolicy policy(small(3), choices, 3);
  CHECK(policy.largest_weight() > 0);
  CHECK(policy.largest_weight() < 10);
  policy.particles().view("layer0.weight", 2)(0, 1) = -1e7F;
  policy.refresh();
  CHECK(policy.largest_weight() == 1e7);
}

TEST_CASE("diagnostics are distance and spread of the particles, against the start", "[policies][control]") {
  using Pairs = std::vector<std::pair<std::string, double>>;
  ControlPolicy policy(small(3), choices, 3);
  CHECK(policy.diagnostics() == Pairs{{"particle_distance", policy.particle_distance()}, {"collapse", 1}});
  for (std::int64_t i = 0; i < 3; ++i)
    for (float& x : policy.particles().values().row(i)) x *= 0.5F;
  policy.refresh();
  CHECK(policy.diagnostics()[1].second == Approx(0.25).epsilon(1e-6));
  // Particles that start near one another have kept little of the spread of those that do not.
  ControlPolicy::Options near = small(3), equal = small(3);
  near.initial_correlation = 0.99, equal.initial_correlation = 1;
  CHECK(ControlPolicy(near, choices, 3).diagnostics()[1].second == Approx(0.01).epsilon(1e-6));
  CHECK(ControlPolicy(equal, choices, 3).diagnostics().size() == 1);
  CHECK(ControlPolicy(small(1), choices, 3).diagnostics().empty());
}

TEST_CASE("shared layers start as those of the first particle, and spread is that of the layers behind them",
          "[policies][control]") {
  for (const WeightStart start : {WeightStart::normal, WeightStart::orthogonal}) {
    ControlPolicy::Options options = small(3);
    options.hidden = {5, 4};
    options.initial_weights = start;
    ControlPolicy apart(options, numbers, 3);
    options.shared_layers = 1;
    ControlPolicy policy(options, numbers, 3);
    for (std::int64_t i = 0; i < 3; ++i)
      for (const inference::LayoutEntry& entry : policy.particles().layout().entries()) {
        CAPTURE(entry.name, i);
        const auto first = apart.particles().view(entry.name, entry.layer == 0 ? 0 : i),
                   own = policy.particles().view(entry.name, i);
        for (std::int64_t c = 0; c < own.columns; ++c) CHECK(own(0, c) == first(0, c));
      }
    CHECK(policy.diagnostics()[1].second == Approx(1).epsilon(1e-6));
    // Halves of all weights behind the shared layer have a quarter of the variance.
    for (const char* name : {"layer1.weight", "layer2.weight"})
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto weights = policy.particles().view(name, i);
        for (std::int64_t r = 0; r < weights.rows; ++r)
          for (std::int64_t c = 0; c < weights.columns; ++c) weights(r, c) *= 0.5F;
      }
    policy.refresh();
    CHECK(policy.diagnostics()[1].second == Approx(0.25).epsilon(1e-6));
    // What has moved apart in the shared layer is put together.
    policy.particles().view("layer0.bias", 1)(0, 2) += 0.75F;
    const float before = policy.particles().view("layer0.bias", 0)(0, 2);
    policy.refresh();
    for (std::int64_t i = 0; i < 3; ++i)
      CHECK(policy.particles().view("layer0.bias", i)(0, 2) == Approx(before + 0.25F));
  }
  ControlPolicy::Options more = small(3);
  more.shared_layers = 2;
  CHECK_ERROR(ControlPolicy(more, numbers, 3), usage, "'shared_layers'", "hidden layers, 1, got 2");
}

TEST_CASE("an orthogonal start has orthonormal columns or rows times the spread, and a quiet last layer",
          "[policies][control]") {
  for (const inference::WeightForm form : {inference::WeightForm::direct, inference::WeightForm::matrix_gaussian}) {
    ControlPolicy::Options options = small(3);
    options.hidden = {7, 4};
    options.posterior.parameterization = form;
    options.initial_weights = WeightStart::orthogonal;
    options.initial_spread = 1.5, options.output_spread = 0.1;
    options.initial_correlation = 0.3;
    ControlPolicy policy(options, numbers, 3);
    for (const auto& [layer, gain] : {std::pair{"layer0", 1.5}, {"layer1", 1.5}, {"layer2", 0.15}})
      for (std::int64_t i = 0; i < 3; ++i) {
        const auto w = policy.particles().view(std::string(layer) + ".weight", i);
        const bool tall = w.rows >= w.columns;
        const std::int64_t few = tall ? w.columns : w.rows, many = tall ? w.rows : w.columns;
        const auto at = [&](std::int64_t k, std::int64_t along) { return double{tall ? w(along, k) : w(k, along)}; };
        for (std::int64_t a = 0; a < few; ++a)
          for (std::int64_t b = 0; b < few; ++b) {
            double product = 0;
            for (std::int64_t k = 0; k < many; ++k) product += at(a, k) * at(b, k);
            CAPTURE(layer, i, a, b);
            CHECK(product == Approx(a == b ? gain * gain : 0).margin(1e-5));
          }
      }
    CHECK(policy.particles().view("layer0.weight", 0)(0, 0) != policy.particles().view("layer0.weight", 1)(0, 0));
  }
}

TEST_CASE("orthogonal starts are uniformly distributed and the collapse meter is 1 where they are independent",
          "[policies][control]") {
  // An entry of a uniformly distributed 4 × 4 orthogonal matrix has mean 0 and variance ¼; with the signs that a QR
  // decomposition happens to have, entries of the diagonal would have another mean.
  ControlPolicy::Options options = small(20'000);
  const envs::ControlSpec four{.name = "four",
                               .observation = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}},
                               .action = {{.name = "x", .low = -1, .high = 1}}};
  options.hidden = {4};
  options.initial_weights = WeightStart::orthogonal;
  ControlPolicy policy(options, four, 3);
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t c = 0; c < 4; ++c) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 0; i < 20'000; ++i) {
        const double w = policy.particles().view("layer0.weight", i)(r, c);
        sum += w / 20'000, squares += w * w / 20'000;
      }
      CHECK(std::abs(sum) < 6 * 0.5 / std::sqrt(20'000));  // 6 sd of the mean
      CHECK(squares == Approx(0.25).margin(6 * 0.25 / std::sqrt(20'000)));
    }
  CHECK(policy.diagnostics()[1].second == Approx(1).epsilon(1e-6));
  options.particles = 50, options.initial_correlation = 0.999;
  CHECK(ControlPolicy(options, four, 3).diagnostics()[1].second < 0.01);
}

TEST_CASE("the last layer starts as quiet as it is told to", "[policies][control]") {
  ControlPolicy::Options loud = small(2), quiet = small(2);
  loud.output_spread = 1, quiet.output_spread = 0.25;
  ControlPolicy first(loud, numbers, 3), second(quiet, numbers, 3);
  for (std::int64_t r = 0; r < 5; ++r)
    for (std::int64_t c = 0; c < 2; ++c)
      CHECK(second.particles().view("layer1.weight", 1)(r, c) ==
            0.25F * first.particles().view("layer1.weight", 1)(r, c));
  CHECK(second.particles().view("layer0.weight", 1)(2, 3) == first.particles().view("layer0.weight", 1)(2, 3));
}

TEST_CASE("with anchors the prior of each particle lies where that one starts, else at 0", "[policies][control]") {
  ControlPolicy::Options options = small(3);
  options.posterior.prior.weight_precision = 4;
  for (const bool anchors : {false, true}) {
    options.anchors = anchors;
    ControlPolicy policy(options, numbers, 7);
    const auto at = policy.particles().view("layer0.weight", 2);
    const float start = at(1, 3), centre = anchors ? start : 0;
    CHECK(start != 0);
    const std::int64_t place = &at(1, 3) - policy.particles().values().row(2).data();
    CHECK(prior_gradients(policy).view()(2, place) == Approx(-4 * (start - centre)).margin(1e-6));
    policy.particles().view("layer0.weight", 2)(1, 3) = start + 0.5F;
    const inference::Matrix<float> moved = prior_gradients(policy);
    CHECK(moved.view()(2, place) == Approx(-4 * (start + 0.5F - centre)).epsilon(1e-5));
    const auto first = policy.particles().view("layer0.weight", 0)(1, 3);  // which did not move
    CHECK(moved.view()(0, place) == Approx(anchors ? 0 : -4 * first).margin(1e-6));
  }
}

TEST_CASE("anchors refuse a prior whose precision is learned, and say what goes with one", "[policies][control]") {
  ControlPolicy::Options options = small(3);
  options.anchors = options.posterior.prior.learn_weight_precision = true;
  CHECK_ERROR(ControlPolicy(options, numbers, 7), usage, "option 'anchors'", "expected anchors=false",
              "learn_weight_precision");
}

TEST_CASE("a saved policy acts the same, with the observations normalised as they were", "[policies][control]") {
  for (const inference::WeightForm form : {inference::WeightForm::direct, inference::WeightForm::matrix_gaussian}) {
    ControlPolicy::Options options = small(2);
    options.normalize_observations = true;
    options.posterior.parameterization = form;
    ControlPolicy first(options, numbers, 1), second(options, numbers, 2);
    std::vector<float> seen(30), presented(30), again(30), outputs(20), repeated(20);
    fill_normal(std::span<float>(seen), {.seed = 1}, 0);
    first.observe({seen.data(), 10, 3});
    Snapshot snapshot;
    first.save(snapshot);
    second.restore(snapshot);
    first.present({seen.data(), 10, 3}, {presented.data(), 10, 3});
    second.present({seen.data(), 10, 3}, {again.data(), 10, 3});
    CHECK(presented == again);
    CHECK(presented != seen);
    first.parameters(1, {presented.data(), 10, 3}, {outputs.data(), 10, 2});
    second.parameters(1, {presented.data(), 10, 3}, {repeated.data(), 10, 2});
    CHECK(outputs == repeated);
  }
}

TEST_CASE("policies that cannot be are refused by name", "[policies][control]") {
  ControlPolicy::Options options = small(2);
  options.hidden = {0};
  CHECK_ERROR(ControlPolicy(options, numbers, 1), usage, "'hidden'");
  options = small(2);
  options.initial_correlation = 1.5;
  CHECK_ERROR(ControlPolicy(options, numbers, 1), usage, "'initial_correlation'", "1.5");
  options = small(2);
  options.posterior.parameterization = inference::WeightForm::variational_matrix_gaussian;
  CHECK_ERROR(ControlPolicy(options, numbers, 1), usage, "particles of weights or their factors");
}
