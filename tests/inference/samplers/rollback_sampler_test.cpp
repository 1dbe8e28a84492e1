// A run whose step size is too long goes back and halves it; one that cannot be saved says so and where.
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>

#include <cmath>
#include <limits>

#include "core/error_matcher.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

const Batch<float> one_of_ten{.rows = 1, .data_size = 10};

/// N(0, 1/k) in every coordinate, with one latent number: how often it has adapted. A step h > 2/k takes sgd without
/// momentum away.
class SteepBowl final : public Target<float> {
 public:
  explicit SteepBowl(float curvature) : curvature_(curvature) { layout_.add("layer0.weight", {4}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const float>& coordinates, const Batch<float>&, const NoiseKey&,
                const Evaluation<float>& wanted) override {
    const MatrixView<float> gradient = wanted.gradient;
    ++evaluations;
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t q = 0; q < gradient.columns; ++q)
        gradient(i, q) = broken ? std::numeric_limits<float>::quiet_NaN() : -curvature_ * coordinates.values(i, q);
  }
  void adapt(const ParticleRows<const float>&, const Batch<float>&, const NoiseKey&, MatrixView<float>) override {
    ++adaptations;
  }
  void save(Snapshot& snapshot) const override { snapshot.put("adaptations", adaptations); }
  void restore(const Snapshot& snapshot) override { adaptations = snapshot.get_scalar<std::int64_t>("adaptations"); }

  bool broken = false;
  std::int64_t adaptations = 0, evaluations = 0;

 private:
  Layout layout_;
  float curvature_;
};

std::unique_ptr<Sampler<float>> gradient_ascent(double step_size) {
  SamplerChoice choice = samplers().at("optimizer").defaults;
  OptionTable table = OptionTable::of(choice);
  table.set("optimizer", "sgd");
  table.set("momentum", "0");
  table.set("step_size", fmt::format("{}", step_size));
  return choice.make(ensemble_of(2, 4, 1));
}

Particles<float> at_one(const SteepBowl& target) {
  Particles<float> particles(target.layout(), 2);
  for (std::int64_t i = 0; i < 2; ++i) std::ranges::fill(particles.values().row(i), 1.0f);
  return particles;
}

}  // namespace

TEST_CASE("without a divergence the steps are those of the sampler alone", "[inference][rollback]") {
  SteepBowl target(1), other(1);
  Particles<float> particles = at_one(target), alone = at_one(other);
  RollbackSampler<float> guarded(gradient_ascent(0.5), {.keep_every = 3});
  const auto sampler = gradient_ascent(0.5);
  for (int t = 0; t < 10; ++t) {
    guarded.step(particles, target, one_of_ten);
    sampler->step(alone, other, one_of_ten);
  }
  CHECK(particles.values()(0, 0) == alone.values()(0, 0));
  CHECK(guarded.rollbacks() == 0);
  CHECK_FALSE(guarded.warning().has_value());
  CHECK(guarded.name() == "optimizer");
}

TEST_CASE("a step size that is too long is halved until the run converges", "[inference][rollback]") {
  // |1 − hk| = 4, so that 64 steps leave the floats; h/2: 1.5, which 219 steps would; h/4: 0.25.
  SteepBowl target(1);
  Particles<float> particles = at_one(target);
  RollbackSampler<float> guarded(gradient_ascent(5));
  std::int64_t lost = 0;
  for (int t = 0; t < 600; ++t) lost += guarded.step(particles, target, one_of_ten).lost_steps;
  CHECK(guarded.rollbacks() == 2);
  for (std::int64_t q = 0; q < 4; ++q) CHECK(std::abs(particles.values()(1, q)) < 1e-6);
  REQUIRE(guarded.warning().has_value());
  CHECK_THAT(*guarded.warning(), Catch::Contains("optimizer") && Catch::Contains("2 times") &&
                                     Catch::Contains("divided by 4") && Catch::Contains("layer0.weight[0]"));
  // Latents went back with the particles: they have not seen the steps that were lost.
  CHECK(target.adaptations == 600 - lost);
  CHECK(lost > 64);
  CHECK(lost <= 2 * 256);
}

TEST_CASE("what three rollbacks do not mend is an error that names sampler, step and coordinate",
          "[inference][rollback]") {
  SteepBowl target(1);
  Particles<float> particles = at_one(target);
  RollbackSampler<float> guarded(gradient_ascent(1000));
  const auto run = [&] {
    for (int t = 0; t < 600; ++t) guarded.step(particles, target, one_of_ten);
  };
  CHECK_ERROR(run(), numeric, "optimizer: the ", "of layer0.weight[0] of particle 0 is", "at update",
              "after 3 rollbacks");
  CHECK(guarded.rollbacks() == 3);
  for (std::int64_t q = 0; q < 4; ++q) CHECK(particles.values()(0, q) == 1);  // the state kept before the first step
}

TEST_CASE("a log density that is no number at the start stops the run there", "[inference][rollback]") {
  SteepBowl target(1);
  target.broken = true;
  Particles<float> particles = at_one(target);
  RollbackSampler<float> guarded(gradient_ascent(0.1), {.rollbacks = 3});
  CHECK_ERROR(guarded.step(particles, target, one_of_ten), numeric,
              "the gradient of layer0.weight[0] of particle 0 is nan", "at update 0");
  CHECK(target.evaluations == 1);
}

TEST_CASE("an interrupted run goes back to the same state and takes the same steps", "[inference][rollback]") {
  // Before the first rollback, and at several places after it: with two states, one of them tried, and steps halved.
  const int interruption = GENERATE(50, 66, 70, 79, 81, 130, 200);
  CAPTURE(interruption);
  SteepBowl target(1), later(1);
  Particles<float> particles = at_one(target), again = at_one(later);
  RollbackSampler<float> guarded(gradient_ascent(8), {.keep_every = 40, .rollbacks = 9}),
      resumed(gradient_ascent(8), {.keep_every = 40, .rollbacks = 9});
  for (int t = 0; t < interruption; ++t) guarded.step(particles, target, one_of_ten);
  Snapshot sampler, positions, latents;
  guarded.save(sampler);
  particles.save(positions);
  target.save(latents);
  resumed.restore(sampler);
  again.restore(positions);
  later.restore(latents);
  for (int t = 0; t < 600; ++t) {
    const StepReport report = guarded.step(particles, target, one_of_ten),
                     same = resumed.step(again, later, one_of_ten);
    REQUIRE(same.lost_steps == report.lost_steps);
  }
  CHECK(guarded.rollbacks() >= 2);
  CHECK(resumed.rollbacks() == guarded.rollbacks());
  CHECK(later.adaptations == target.adaptations);
  for (std::int64_t q = 0; q < 4; ++q) CHECK(again.values()(1, q) == particles.values()(1, q));
}

TEST_CASE("an owner whom finite particles gave something else takes them back", "[inference][rollback]") {
  SteepBowl target(1);
  Particles<float> particles = at_one(target);
  RollbackSampler<float> sampler(gradient_ascent(0.25), {.keep_every = 4, .rollbacks = 2});
  CHECK_ERROR(sampler.take_back(particles, target, "it is inf"), numeric, "optimizer: it is inf");
  for (int t = 0; t < 6; ++t) sampler.step(particles, target, one_of_ten);
  sampler.take_back(particles, target, "it is inf");
  CHECK(particles.values()(1, 3) == std::pow(0.75f, 4.0f));  // where it was kept
  CHECK(target.adaptations == 4);
  sampler.step(particles, target, one_of_ten);
  CHECK(particles.values()(1, 3) == std::pow(0.75f, 4.0f) * 0.875f);
  CHECK(sampler.rollbacks() == 1);
  REQUIRE(sampler.warning());
  CHECK_THAT(*sampler.warning(), Catch::Contains("gone back 1 time") && Catch::Contains("optimizer: it is inf"));
  sampler.take_back(particles, target, "it is nan");
  CHECK(particles.values()(0, 0) == 1);  // the newer state was gone back to before
  CHECK_ERROR(sampler.take_back(particles, target, "it is nan"), numeric, "optimizer: it is nan", "after 2 rollbacks");
}

TEST_CASE("a step size that was scaled from outside stays so after a rollback", "[inference][rollback]") {
  // After a first step 50 becomes 5, as above: two rollbacks, to 1.25.
  SteepBowl target(1);
  Particles<float> particles = at_one(target);
  RollbackSampler<float> guarded(gradient_ascent(50), {.keep_every = 1000, .rollbacks = 2});
  guarded.step(particles, target, one_of_ten);
  guarded.scale_step_size(0.1);
  for (int t = 0; t < 600; ++t) guarded.step(particles, target, one_of_ten);
  CHECK(guarded.rollbacks() == 2);
  for (std::int64_t q = 0; q < 4; ++q) CHECK(std::abs(particles.values()(1, q)) < 1e-6);
}
