// Samplers on a device whose host runs one step ahead: what diverges is found one step later, named as if it had been
// found at once, and nothing that came of it stays.
#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "core/error_matcher.h"
#include "inference/diffusion_rows.h"
#include "inference/fenced_device.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::inference;
using test::flat;

namespace {

constexpr std::int64_t coordinates = 21;

/// The standard normal density; its gradient is made on the host, and is no number in one coordinate where a batch is
/// seen for the first time that is told to break it: those of size k.
class Breakable final : public Target<float> {
 public:
  explicit Breakable(Device device, std::set<std::int64_t> breaks = {})
      : device_(device), layout_(flat(coordinates)), breaks_(std::move(breaks)) {}
  const Layout& layout() const override { return layout_; }
  bool adapts() const override { return moves; }
  void adapt(const ParticleRows<const float>&, const Batch<float>&, const NoiseKey&, MatrixView<float>) override {
    ++adaptations;
  }
  void evaluate(const ParticleRows<const float>& rows, const Batch<float>& batch, const NoiseKey&,
                const Evaluation<float>& wanted) override {
    const Matrix<float> values = host_copy<float>(rows.values, device_);
    const bool breaks = breaks_.erase(batch.size) > 0;
    for (std::int64_t i = 0; i < values.rows(); ++i) {
      std::vector<float> gradient(values.row(i).begin(), values.row(i).end());
      for (float& number : gradient) number = -curvature * number;
      if (breaks && i == 1) gradient[5] = std::numeric_limits<float>::quiet_NaN();
      const std::span<float> to = wanted.gradient.row(i);
      if (device_.kind == Device::Kind::host)
        std::ranges::copy(gradient, to.begin());
      else
        device_memory(device_.kind).copy_in(device_.index, to.data(), gradient.data(), to.size_bytes());
    }
  }

  float curvature = 1;
  bool moves = false;  ///< `adapt` does
  std::int64_t adaptations = 0;

 private:
  Device device_;
  Layout layout_;
  std::set<std::int64_t> breaks_;
};

/// Particles on a device, the target that they climb and their sampler, with a way back or without.
struct Chain {
  Chain(const std::string& name, Device device, std::set<std::int64_t> breaks = {},
        const std::map<std::string, std::string>& settings = {})
      : target(device, std::move(breaks)), particles(target.layout(), 3, 2, 8, device) {
    for (std::int64_t i = 0; i < 3; ++i) {
      std::vector<float> start;
      for (std::int64_t q = 0; q < coordinates; ++q) start.push_back(0.1f * static_cast<float>(q - 4 * i));
      const std::span<float> row = particles.values().row(i);
      if (device.kind == Device::Kind::host)
        std::ranges::copy(start, row.begin());
      else
        device_memory(device.kind).copy_in(device.index, row.data(), start.data(), row.size_bytes());
    }
    SamplerChoice made = samplers().at(name).defaults;
    OptionTable table = OptionTable::of(made);
    for (const auto& [option, value] : settings) table.set(option, value);
    sampler = made.make(particles.ensemble(4, Arithmetic::reference));
  }
  void goes_back(const RollbackOptions& options, AfterRollback after) {
    sampler = std::make_unique<RollbackSampler<float>>(std::move(sampler), options, after);
  }
  Batch<float> batch() const { return {.rows = 1, .size = seen, .data_size = 1}; }
  StepReport step() {
    const Batch<float> next = batch();
    ++seen;
    return sampler->step(particles, target, next);
  }
  StepReport settle() { return sampler->settle(particles, target, batch()); }
  void steps(int count) {
    for (int t = 0; t < count; ++t) step();
  }
  Matrix<float> values() const { return host_copy<float>(particles.values(), particles.device()); }
  std::map<std::string, Snapshot::Bytes> state() const {
    Snapshot snapshot;
    sampler->save(snapshot), particles.save(snapshot);
    std::map<std::string, Snapshot::Bytes> found;
    for (const auto& [name, array] : snapshot.arrays()) found[name] = array.bytes;
    return found;
  }

  Breakable target;
  Particles<float> particles;
  std::int64_t seen = 0;  ///< batches
  std::unique_ptr<Sampler<float>> sampler;
};

bool same(const Matrix<float>& a, const Matrix<float>& b) {
  for (std::int64_t i = 0; i < a.rows(); ++i)
    if (!std::ranges::equal(a.row(i), b.row(i))) return false;
  return true;
}

const std::vector<std::string> all_samplers{"sgld", "psgld", "sghmc", "sgnht", "santa", "optimizer", "svgd"};

void check_late_gradients(Device device) {
  for (const std::string& name : all_samplers)
    for (const std::int64_t k : {0, 1, 6})
      for (const bool settles : {false, true})
        for (const bool clips : {false, true}) {
          CAPTURE(name, k, settles, clips);
          const std::map<std::string, std::string> settings{{"clip_norm", clips ? "1.5" : "0"}};
          Chain host(name, {}, {k}, settings), late(name, device, {k}, settings);
          host.steps(static_cast<int>(k)), late.steps(static_cast<int>(k));
          const std::string sentence = fmt::format("the gradient of position[5] of particle 3 is nan at update {}", k);
          CHECK_ERROR(host.step(), numeric, sentence);
          CHECK_FALSE(late.step().settled);
          CHECK_ERROR(settles ? late.settle() : late.step(), numeric, sentence);
          if (name != "svgd" || device.kind == Device::Kind::fenced) CHECK(same(late.values(), host.values()));
          // It goes on from there: the step that was asked for meanwhile was none.
          host.steps(4), late.steps(4);
          late.settle();
          if (name == "santa" || (name == "svgd" && device.kind != Device::Kind::fenced)) continue;
          CHECK(late.state() == host.state());
        }
}

void check_late_values(Device device) {
  for (const char* const name : {"sgld", "sghmc", "optimizer", "svgd"}) {
    CAPTURE(name);
    Chain host(name, {}), late(name, device);
    host.target.curvature = late.target.curvature = 1e38f;  // finite gradients at first
    const auto sentence_of = [](Chain& chain, int most) -> std::pair<std::string, int> {
      for (int t = 0; t < most; ++t) try {
          chain.step();
        } catch (const Error& error) {
          return {error.what(), t};
        }
      return {"", most};
    };
    for (Chain* chain : {&host, &late}) chain->sampler->scale_step_size(1e30);
    const auto [expected, at] = sentence_of(host, 50);
    const auto [found, later] = sentence_of(late, 50);
    CHECK(expected != "");
    CHECK(found == expected);
    CHECK(later == at + 1);
  }
}

}  // namespace

TEST_CASE("a gradient that is not finite is named one step later, and has moved nothing", "[inference][run-ahead]") {
  check_late_gradients(test::fenced_device());
}

TEST_CASE("a gradient that is not finite is named one step later on a GPU, and has moved nothing",
          "[inference][run-ahead][gpu]") {
  check_late_gradients(test::gpu());
}

TEST_CASE("a value that a step has moved out of the finite numbers is named one step later", "[inference][run-ahead]") {
  check_late_values(test::fenced_device());
}

TEST_CASE("a value that a step on a GPU has moved out of the finite numbers is named one step later",
          "[inference][run-ahead][gpu]") {
  check_late_values(test::gpu());
}

TEST_CASE("the host of a device waits for no step that nobody looks at", "[inference][run-ahead]") {
  for (const std::string& name : all_samplers)
    for (const char* const clip_norm : {"0", "1.5"}) {
      CAPTURE(name, clip_norm);
      Chain chain(name, test::fenced_device(), {}, {{"clip_norm", clip_norm}});
      int looked = 0;
      auto& sampler = dynamic_cast<GradientSampler<float>&>(*chain.sampler);
      sampler.observe_gradients([&](const Particles<float>&) { ++looked; }, [](std::int64_t t) { return t % 4 == 3; });
      chain.steps(3);
      std::int64_t own = 0;  // of the target of the test, which reads and writes three rows
      const auto waits_of = [&](int steps) {
        const std::int64_t before = test::fenced_waits();
        chain.steps(steps);
        own = 6 * steps;
        return test::fenced_waits() - before - own;
      };
      CHECK(looked == 0);
      CHECK(waits_of(1) == 2);  // for the step before, and for the gradient that is looked at
      CHECK(looked == 1);
      CHECK(waits_of(3) == 0);
    }
}

TEST_CASE("a chain on a device goes back one step later, to what the host goes back to", "[inference][run-ahead]") {
  const Device device = test::fenced_device();
  // The second state is kept before step 5: among others a gradient breaks just before that, and just after.
  for (const std::int64_t broken : {1, 4, 5, 6, 9})
    for (const AfterRollback after : {AfterRollback::wait, AfterRollback::step_again})
      for (const std::string& name : all_samplers) {
        CAPTURE(broken, static_cast<int>(after), name);
        Chain host(name, {}, {broken}), late(name, device, {broken});
        for (Chain* chain : {&host, &late}) chain->goes_back({.keep_every = 5}, after);
        StepReport of_host, of_device;
        for (std::int64_t t = 0; t <= broken; ++t) of_host = host.step(), of_device = late.step();
        CHECK(of_host.went_back);
        CHECK_FALSE(of_device.went_back);
        of_device = late.step();
        CHECK(of_device.went_back);
        CHECK(of_device.lost_steps == of_host.lost_steps + 1);
        CHECK(of_device.taken == of_host.taken);
        late.settle();
        CHECK(same(late.values(), host.values()));
        auto of = [](const Chain& chain) {
          Snapshot snapshot;
          chain.sampler->save(snapshot);
          return snapshot.get_scalar<std::int64_t>("updates");
        };
        CHECK(of(late) == of(host));
      }
}

TEST_CASE("no state is kept that came of a step which is not known to be finite", "[inference][run-ahead]") {
  // Values leave the numbers in the step before a state is kept; the state before that one is the way back.
  const Device device = test::fenced_device();
  Chain late("optimizer", device, {}, {{"optimizer", "sgd"}, {"momentum", "0"}, {"step_size", ".5"}});
  late.goes_back({.keep_every = 4}, AfterRollback::wait);
  late.steps(3);
  late.settle();
  late.target.curvature = 1e38f;  // one step to infinity
  late.sampler->scale_step_size(1e3);
  CHECK(late.step().taken);  // the fourth
  late.target.curvature = 1;
  late.sampler->scale_step_size(1e-3);
  const StepReport report = late.step();
  CHECK(report.went_back);
  CHECK(report.lost_steps == 4);
  CHECK_FALSE(report.kept);
  CHECK(late.step().taken);
  late.settle();
  for (std::int64_t i = 0; i < 3; ++i)
    for (const float number : late.values().row(i)) CHECK(std::isfinite(number));
}

TEST_CASE("what a step met is forgotten with the step", "[inference][run-ahead]") {
  Chain late("sghmc", test::fenced_device(), {2});
  late.steps(2);
  late.settle();
  Snapshot sampler, particles;
  late.sampler->save(sampler), late.particles.save(particles);
  late.step();
  late.sampler->restore(sampler), late.particles.restore(particles);
  const auto before = late.state();
  late.steps(3);
  late.settle();
  CHECK(late.state() != before);
}

TEST_CASE("a target that adapts is adapted to no step that is not known to be finite", "[inference][run-ahead]") {
  Chain late("sghmc", test::fenced_device(), {2});
  late.target.moves = true;
  late.steps(2);
  CHECK(late.target.adaptations == 2);
  CHECK_ERROR(late.step(), numeric, "the gradient of position[5] of particle 3 is nan at update 2");
  CHECK(late.target.adaptations == 2);
  CHECK(late.step().settled);
}

TEST_CASE("the first step of all is known to be finite before the second is asked for", "[inference][run-ahead]") {
  Chain late("sgld", test::fenced_device(), {0});
  late.goes_back({}, AfterRollback::wait);
  CHECK_ERROR(late.step(), numeric, "sgld: the gradient of position[5] of particle 3 is nan at update 0");
}

TEST_CASE("a run on a device takes the same steps wherever it was settled and saved",
          "[inference][run-ahead][resume]") {
  const Device device = test::fenced_device();
  for (const AfterRollback after : {AfterRollback::wait, AfterRollback::step_again})
    for (const std::set<std::int64_t>& broken : {std::set<std::int64_t>{3}, {7}, {11}, {3, 9}, {6, 12}}) {
      const auto make = [&] {
        auto chain = std::make_unique<Chain>("sghmc", device, broken);
        chain->goes_back({.keep_every = 4}, after);
        return chain;
      };
      const auto whole = make();
      std::int64_t lost = 0, taken = 0;
      for (int t = 0; t < 20; ++t) {
        const StepReport report = whole->step();
        lost += report.lost_steps, taken += report.taken;
      }
      whole->settle();
      for (int stop = 1; stop < 20; ++stop) {
        CAPTURE(stop, static_cast<int>(after), *broken.begin(), broken.size());
        auto first = make();
        std::int64_t lost_here = 0, taken_here = 0;
        const auto count = [&](const StepReport& report) {
          lost_here += report.lost_steps, taken_here += report.taken;
        };
        for (int t = 0; t < stop; ++t) count(first->step());
        count(first->settle());
        Snapshot sampler, particles;
        first->sampler->save(sampler), first->particles.save(particles);
        auto second = make();
        second->sampler->restore(sampler), second->particles.restore(particles);
        second->seen = first->seen;
        for (int t = stop; t < 20; ++t) count(second->step());
        count(second->settle());
        CHECK(second->state() == whole->state());
        CHECK(lost_here == lost);
        CHECK(taken_here == taken);
      }
    }
}
