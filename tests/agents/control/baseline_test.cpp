// What returns are compared with: each baseline on values that it can tell exactly or learn.
#include <stein/agents/control/baseline.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "agents/toy_control.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;

namespace {

constexpr std::int64_t particles = 2, rows = 200, seen = 2;

/// Observations and times that are drawn, and targets that are a function of them, another one for each particle.
struct Sample {
  std::vector<float> observations = std::vector<float>(particles * rows * seen), times, targets,
                     scale = std::vector<float>(particles * rows, 1.0F / rows);

  Sample() {
    fill_normal(std::span<float>(observations), {.seed = 1}, 0);
    Draws draws({.seed = 1}, 1);
    for (std::int64_t i = 0; i < particles * rows; ++i) {
      times.push_back(static_cast<float>(draws.integer(300)));
      const double x = observations[static_cast<std::size_t>(2 * i)],
                   y = observations[static_cast<std::size_t>(2 * i + 1)], t = double{times.back()} / 100;
      targets.push_back(static_cast<float>(i < rows ? 3 + x - 2 * y * y + t - t * t * t / 4 : x + y));
    }
  }
  ValueRows all() const {
    return {.particles = particles,
            .rows = rows,
            .observations = {observations.data(), particles * rows, seen},
            .times = times,
            .targets = targets,
            .scale = scale};
  }
  /// Root mean squared error of particle i over the rows that count.
  double error(Baseline& baseline, std::int64_t i) const {
    std::vector<float> values(rows);
    baseline.predict(i, {observations.data() + i * rows * seen, rows, seen},
                     std::span(times).subspan(static_cast<std::size_t>(i * rows), rows), values);
    double square = 0, count = 0;
    for (std::size_t k = 0; k < rows; ++k) {
      const auto at = static_cast<std::size_t>(i * rows) + k;
      if (scale[at] != 0) square += std::pow(double{values[k]} - double{targets[at]}, 2), count += 1;
    }
    return std::sqrt(square / count);
  }
};

}  // namespace

TEST_CASE("the linear baseline finds every value that is linear in its features, and leaves out rows that do not count",
          "[agents][baseline]") {
  Sample sample;
  for (std::size_t i = 0; i < rows; i += 10) sample.scale[i] = 0, sample.targets[i] = 1e6F;
  const auto baseline = make_baseline(BaselineKind::linear, {}, particles, seen, 0);
  std::vector<float> start(rows, 1);
  baseline->predict(0, {sample.observations.data(), rows, seen}, std::span(sample.times).first(rows), start);
  CHECK(start == std::vector<float>(rows));  // 0 before it has seen anything
  baseline->refit(sample.all());
  CHECK(sample.error(*baseline, 0) < 1e-4);  // a ridge of 1e-5 on 180 rows
  CHECK(sample.error(*baseline, 1) < 1e-4);
}

TEST_CASE("a value network learns for every particle on its own", "[agents][baseline]") {
  const Sample sample;
  const auto baseline = make_baseline(BaselineKind::network, {.hidden = {16}, .step_size = 0.02}, particles, seen, 3);
  const double before = sample.error(*baseline, 1);
  for (int k = 0; k < 1000; ++k) baseline->learn(sample.all());
  CHECK(before > 0.5);
  CHECK(sample.error(*baseline, 1) < 0.05);

  // Beside another particle and alone it has the same bits.
  const auto alone = make_baseline(BaselineKind::network, {.hidden = {16}, .step_size = 0.02}, 1, seen, 3);
  ValueRows first = sample.all();
  first.particles = 1;
  first.observations.rows = rows;
  first.targets = first.targets.first(rows), first.times = first.times.first(rows),
  first.scale = first.scale.first(rows);
  for (int k = 0; k < 1000; ++k) alone->learn(first);
  CHECK(sample.error(*alone, 0) == sample.error(*baseline, 0));
}

TEST_CASE("no baseline is 0", "[agents][baseline]") {
  const Sample sample;
  const auto baseline = make_baseline(BaselineKind::none, {}, particles, seen, 0);
  baseline->learn(sample.all()), baseline->refit(sample.all());
  std::vector<float> values(rows, 3);
  baseline->predict(1, {sample.observations.data(), rows, seen}, std::span(sample.times).first(rows), values);
  CHECK(values == std::vector<float>(rows));
}

TEST_CASE("baselines go on from a snapshot with the same bits", "[agents][baseline]") {
  const Sample sample;
  const auto [kind, normalize] = GENERATE(table<BaselineKind, bool>({{BaselineKind::none, false},
                                                                     {BaselineKind::linear, false},
                                                                     {BaselineKind::network, false},
                                                                     {BaselineKind::network, true}}));
  {
    const ValueNetworkOptions options{.hidden = {8}, .normalize = normalize};
    const auto whole = make_baseline(kind, options, particles, seen, 3),
               second = make_baseline(kind, options, particles, seen, 4);
    const auto teach = [&](Baseline& baseline) {
      baseline.observe(sample.all());
      for (int k = 0; k < 5; ++k) baseline.learn(sample.all());
      baseline.refit(sample.all());
    };
    teach(*whole);
    second->restore(test::snapshot_of(*whole));
    CHECK(sample.error(*second, 1) == sample.error(*whole, 1));
    teach(*whole), teach(*second);
    CHECK(test::same_bytes(test::snapshot_of(*second), test::snapshot_of(*whole)));
  }
}

TEST_CASE("a value network that normalises its targets predicts the same before and after their mean and sd move",
          "[agents][baseline]") {
  Sample sample;
  const auto baseline = make_baseline(BaselineKind::network, {.hidden = {16}, .normalize = true}, particles, seen, 3);
  const auto predicted = [&](std::int64_t i) {
    std::vector<float> values(rows);
    baseline->predict(i, {sample.observations.data() + i * rows * seen, rows, seen}, sample.times, values);
    return values;
  };
  baseline->observe(sample.all());
  const std::vector<float> before[2]{predicted(0), predicted(1)};
  for (float& target : sample.targets) target = 1000 + 50 * target;
  sample.scale[rows - 1] = 0, sample.targets[rows - 1] = 1e9F;  // does not count
  baseline->observe(sample.all());
  for (std::int64_t i = 0; i < particles; ++i) {
    const std::vector<float> after = predicted(i);
    for (std::size_t k = 0; k < rows; ++k) CHECK(after[k] == Approx(before[i][k]).epsilon(1e-3).margin(2e-3));
  }
}

TEST_CASE("a value network that normalises its targets learns large ones as fast as small ones", "[agents][baseline]") {
  Sample small, large;
  for (float& target : large.targets) target = 1000 * target + 5000;
  const auto error_after = [](const Sample& sample, bool normalize) {
    const auto baseline = make_baseline(
        BaselineKind::network, {.hidden = {16}, .step_size = 0.02, .normalize = normalize}, particles, seen, 3);
    baseline->observe(sample.all());
    for (int k = 0; k < 1000; ++k) baseline->learn(sample.all());
    return sample.error(*baseline, 1);
  };
  // Of a standard deviation of about √2 and 1,414.
  CHECK(error_after(small, true) < 0.05);
  CHECK(error_after(large, true) < 50);
  CHECK(error_after(large, false) > 1000);
}

TEST_CASE("a shared baseline is one of the rows of all particles, each of which counts alike", "[agents][baseline]") {
  Sample sample;
  ValueRows together = sample.all();
  std::vector<float> scale(particles * rows, 1.0F / (particles * rows));
  together.particles = 1, together.rows = particles * rows, together.scale = scale;
  for (const BaselineKind kind : {BaselineKind::linear, BaselineKind::network}) {
    const ValueNetworkOptions options{.hidden = {8}, .normalize = true};
    const auto shared = make_baseline(kind, options, particles, seen, 3, true),
               one = make_baseline(kind, options, 1, seen, 3);
    for (int k = 0; k < 5; ++k) {
      shared->observe(sample.all()), one->observe(together);
      shared->learn(sample.all()), one->learn(together);
      shared->refit(sample.all()), one->refit(together);
    }
    CHECK(test::same_bytes(test::snapshot_of(*shared), test::snapshot_of(*one)));
    std::vector<float> first(rows), second(rows);
    for (std::vector<float>* values : {&first, &second})
      shared->predict(values == &first ? 0 : 1, {sample.observations.data(), rows, seen},
                      std::span(sample.times).first(rows), *values);
    CHECK(first == second);
  }
}

TEST_CASE("a value network with a step size of 0 is refused", "[agents][baseline]") {
  CHECK_ERROR(make_baseline(BaselineKind::network, {.step_size = 0}, 1, seen, 0), usage, "'value_step_size'");
}

TEST_CASE("a value network makes so many updates whenever it learns", "[agents][baseline]") {
  const Sample sample;
  const auto thrice = make_baseline(BaselineKind::network, {.hidden = {8}, .updates = 3}, particles, seen, 3),
             once = make_baseline(BaselineKind::network, {.hidden = {8}, .updates = 1}, particles, seen, 3);
  for (int k = 0; k < 2; ++k) thrice->learn(sample.all());
  for (int k = 0; k < 6; ++k) once->learn(sample.all());
  CHECK(test::same_bytes(test::snapshot_of(*thrice), test::snapshot_of(*once)));
}

TEST_CASE("the linear baseline sees observations beyond ten as ten", "[agents][baseline]") {
  const Sample sample;
  const auto baseline = make_baseline(BaselineKind::linear, {}, particles, seen, 0);
  baseline->refit(sample.all());
  const std::vector<float> far{70, -30, 10, -10}, times(2, 5.0F);
  std::vector<float> values(2);
  baseline->predict(0, {far.data(), 2, seen}, times, values);
  CHECK(values[0] == values[1]);
  CHECK(std::abs(values[0]) > 100);  // 3 + 10 − 2 · 100
}

TEST_CASE("targets in units of their own are those of each particle, and of rows that count", "[agents][baseline]") {
  // Particle 1 has targets of another mean and sd than particle 0: both learn as they would alone.
  Sample sample;
  for (std::size_t i = rows; i < 2 * rows; ++i) sample.targets[i] = 40 + 7 * sample.targets[i];
  const ValueNetworkOptions options{.hidden = {16}, .step_size = 0.02, .normalize = true};
  const auto baseline = make_baseline(BaselineKind::network, options, particles, seen, 3);
  baseline->observe(sample.all());
  for (int k = 0; k < 1000; ++k) baseline->learn(sample.all());
  CHECK(sample.error(*baseline, 1) < 7 * 0.05);
  CHECK(test::snapshot_of(*baseline).get_vector<double>("targets1/mean")[0] == Approx(40).margin(3));
}
