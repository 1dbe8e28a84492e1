// What was collected in steps that were taken back is dropped everywhere: by the collector, samples in memory and on
// disk, and predictions that are streamed.
#include <stein/inference/prediction/collected_samples.h>
#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/sample_reservoir.h>
#include <stein/inference/prediction/streamed_predictive.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sgld.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

using namespace stein;
using namespace stein::inference;
using stein::test::TemporaryDirectory;

namespace {

const Batch<double> no_data{.rows = 1, .data_size = 1};

/// N(0, 1), with the number of accepted steps as its latent. Evaluations whose number is in `breaks` give no number.
class BreakingBowl final : public Target<double> {
 public:
  explicit BreakingBowl(std::set<std::int64_t> breaks) : breaks_(std::move(breaks)) {
    layout_.add("x", {1}, Role::bias);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& at, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const bool broken = breaks_.contains(evaluations++);
    for (std::int64_t i = 0; i < at.values.rows; ++i) wanted.gradient(i, 0) = broken ? NAN : -at.values(i, 0);
  }
  void adapt(const ParticleRows<const double>&, const Batch<double>&, const NoiseKey&, MatrixView<double>) override {
    ++accepted;
  }
  void save(Snapshot& snapshot) const override { snapshot.put("accepted", accepted); }
  void restore(const Snapshot& snapshot) override { accepted = snapshot.get_scalar<std::int64_t>("accepted"); }
  std::int64_t accepted = 0, evaluations = 0;

 private:
  Layout layout_;
  std::set<std::int64_t> breaks_;
};

std::unique_ptr<Sampler<double>> sgld(const Particles<double>& particles) {
  return std::make_unique<Sgld<double>>(SgldOptions{.step = {.step_size = 0.1}}, particles.ensemble(4));
}

MatrixView<const double> row_of(const double& number) {
  return {&number, 1, 1};
}

}  // namespace

TEST_CASE("samples of lost steps are dropped from everything that collects", "[inference][rollback][collector]") {
  // States are kept at steps 0, 10, 20, …. Evaluation 25 breaks: back to 20. So does the second after that: the state
  // of step 20 may be at fault, back to 10. Two more later, in one step.
  const auto after = GENERATE(AfterRollback::step_again, AfterRollback::wait);
  BreakingBowl target({25, 27, 80, 81});
  Particles<double> particles(target.layout(), 1);
  RollbackSampler<double> sampler(sgld(particles), {.keep_every = 10, .rollbacks = 9}, after);
  const TemporaryDirectory folder;
  constexpr std::int64_t steps = 120;
  Collector collector({.burn_in = 0, .thinning = 3, .samples = 40}, steps);
  CollectedSamples<double> samples(target.layout(), 1);
  auto reservoir = SampleReservoir<double>::create(folder / "samples");
  StreamedPredictive streamed(Likelihood::gaussian, 1, 1);
  std::vector<std::int64_t> made;  // the chain's own count of its steps, with each sample
  std::int64_t dropped = 0, lost = 0;
  while (collector.steps() < steps) {
    const StepReport report = sampler.step(particles, target, no_data);
    streamed.follow(report);
    const Collection now = collector.take(report);
    dropped += now.dropped, lost += report.lost_steps;
    samples.drop_last(now.dropped), reservoir.drop_last(now.dropped);
    made.resize(made.size() - static_cast<std::size_t>(now.dropped));
    CHECK(collector.steps() == target.accepted);
    if (!now.keep) continue;
    samples.add(particles), reservoir.add(particles);
    made.push_back(target.accepted);
    streamed.current().add(row_of(particles.values()(0, 0)));
  }
  CHECK(sampler.rollbacks() == 4);
  CHECK(lost >= 5 + 10);
  CHECK(dropped >= 4);
  REQUIRE(samples.size() == 40);
  CHECK(reservoir.size() == 40);
  CHECK(!std::filesystem::exists(folder / "samples/sample-000040.safetensors"));
  Predictive expected(Likelihood::gaussian, 1, 1);
  Particles<double> read = particles;
  for (std::int64_t k = 0; k < 40; ++k) {
    CHECK(made[static_cast<std::size_t>(k)] == 3 * (k + 1));
    reservoir.read(k, read);
    CHECK(read.values()(0, 0) == samples.sample(k).values(0, 0));
    expected.add(row_of(samples.sample(k).values(0, 0)));
  }
  CHECK(streamed.total().draws() == 40);
  CHECK(streamed.total().mean()(0, 0) == Approx(expected.mean()(0, 0)).epsilon(1e-12));
  CHECK(streamed.total().deviation()[0] == Approx(expected.deviation()[0]).epsilon(1e-12));
}

TEST_CASE("a sampler that waits takes no step with the batch that led away", "[inference][rollback]") {
  BreakingBowl target({7});
  Particles<double> particles(target.layout(), 1);
  RollbackSampler<double> sampler(sgld(particles), {.keep_every = 4}, AfterRollback::wait);
  for (int t = 0; t < 7; ++t) CHECK(sampler.step(particles, target, no_data).taken);
  const StepReport report = sampler.step(particles, target, no_data);
  CHECK(report.went_back);
  CHECK(!report.taken);
  CHECK(!report.accepted);
  CHECK(report.lost_steps == 3);
  CHECK(target.evaluations == 8);
  CHECK(target.accepted == 4);
  CHECK(sampler.step(particles, target, no_data).taken);
}

TEST_CASE("an interrupted run drops what the whole run drops", "[inference][rollback][collector]") {
  // One rollback to the state of step 20, and a second one that goes on to that of step 10.
  const auto breaks = GENERATE(std::set<std::int64_t>{25}, std::set<std::int64_t>{25, 27});
  struct Run {
    explicit Run(const std::set<std::int64_t>& at) : target(at) {}
    BreakingBowl target;
    Particles<double> particles{target.layout(), 1};
    RollbackSampler<double> sampler{sgld(particles), {.keep_every = 10}};
    Collector collector{{.burn_in = 0, .thinning = 2, .samples = 20}, 40};
    StreamedPredictive streamed{Likelihood::gaussian, 1, 1};
    void go(std::int64_t until) {
      while (target.evaluations < until && collector.steps() < 40) {
        const StepReport report = sampler.step(particles, target, no_data);
        streamed.follow(report);
        if (collector.take(report).keep) streamed.current().add(row_of(particles.values()(0, 0)));
      }
    }
  } whole(breaks), first(breaks), second(breaks);
  // In the third stretch before a rollback, and after one.
  whole.go(1000), first.go(GENERATE(24, 26));
  Snapshot states[5];
  first.sampler.save(states[0]), first.particles.save(states[1]), first.target.save(states[2]);
  first.collector.save(states[3]), first.streamed.save(states[4]);
  second.sampler.restore(states[0]), second.particles.restore(states[1]), second.target.restore(states[2]);
  second.collector.restore(states[3]), second.streamed.restore(states[4]);
  second.target.evaluations = first.target.evaluations;
  second.go(1000);
  CHECK(second.sampler.rollbacks() == std::ssize(breaks));
  CHECK(second.streamed.total().draws() == 20);
  CHECK(second.streamed.total().draws() == whole.streamed.total().draws());
  CHECK(second.streamed.total().mean()(0, 0) == whole.streamed.total().mean()(0, 0));
}

TEST_CASE("a step that is lost where a state was kept does not push the older state out", "[inference][rollback]") {
  // States at steps 0, 10, 20. Evaluation 20, the first from the state of step 20, breaks; so does 22, the second: that
  // state has been tried, the older one is that of step 10.
  BreakingBowl target({20, 22});
  Particles<double> particles(target.layout(), 1);
  RollbackSampler<double> sampler(sgld(particles), {.keep_every = 10, .rollbacks = 9}, AfterRollback::wait);
  std::vector<std::int64_t> lost;
  for (int t = 0; t < 23; ++t)
    if (const StepReport report = sampler.step(particles, target, no_data); report.went_back)
      lost.push_back(report.lost_steps);
  CHECK(lost == std::vector<std::int64_t>{0, 11});
  CHECK(target.accepted == 10);
}

TEST_CASE("a run that is resumed before a rollback has the samples that the rollback took back",
          "[inference][rollback][collector]") {
  const TemporaryDirectory folder;
  Layout layout;
  layout.add("x", {1}, Role::bias);
  Particles<double> particles(layout, 1);
  const auto add = [&](SampleReservoir<double>& reservoir, double number) {
    particles.values()(0, 0) = number;
    reservoir.add(particles);
  };
  const auto numbers_in = [&](const SampleReservoir<double>& reservoir) {
    std::vector<double> found;
    for (std::int64_t k = 0; k < reservoir.size(); ++k) {
      reservoir.read(k, particles);
      found.push_back(particles.values()(0, 0));
    }
    return found;
  };
  auto reservoir = SampleReservoir<double>::create(folder / "samples");
  for (const double number : {0, 1, 2, 3}) add(reservoir, number);
  Snapshot early, later;
  reservoir.save(early);
  reservoir.drop_last(2);  // 0 1
  add(reservoir, 20);      // 0 1 20
  reservoir.save(later);
  reservoir.drop_last(2);  // 0
  for (const double number : {10, 21, 30, 40}) add(reservoir, number);

  const std::string copy = folder / "copy";
  std::filesystem::copy(folder / "samples", copy);
  auto resumed = SampleReservoir<double>::open(copy);
  resumed.restore(later);
  CHECK(numbers_in(resumed) == std::vector<double>{0, 1, 20});
  auto again = SampleReservoir<double>::open(folder / "samples");
  again.restore(early);
  CHECK(numbers_in(again) == std::vector<double>{0, 1, 2, 3});
  CHECK(SampleReservoir<double>::open(folder / "samples").size() == 4);

  // One that was opened and not restored overwrites nothing that an earlier run took back.
  const std::string third = folder / "third";
  std::filesystem::copy(copy, third);
  auto opened = SampleReservoir<double>::open(third);  // 0 1 20, and what two drops took
  opened.drop_last(1);
  auto first = SampleReservoir<double>::open(third);
  first.restore(early);
  CHECK(numbers_in(first) == std::vector<double>{0, 1, 2, 3});
}
