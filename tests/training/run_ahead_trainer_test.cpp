// Training on a device whose host runs one step ahead: the numbers of the host's own training, and what diverged is
// taken back with all that came of it, wherever a training was interrupted.
#include <stein/inference/storage/host_copy.h>
#include <stein/runs/repetitions.h>
#include <stein/training/epoch_trainer.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "inference/fenced_device.h"
#include "training/mean_model.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

using inference::Device;

constexpr std::int64_t minibatches_an_epoch = 50, epochs = 7;  // behind 128 not every one is recorded

/// MeanModel for weights on the fenced device, which leaves its values there.
class DeviceMeanModel final : public inference::ForwardingModel<float> {
 public:
  DeviceMeanModel() : ForwardingModel(std::make_unique<test::MeanModel>()) {}
  Device device() const override { return test::fenced_device(); }
  bool answers_late() const override { return true; }
  void log_likelihood(const inference::ParticleRows<const float>& weights, const inference::Batch<float>& batch,
                      const NoiseKey& noise, const inference::Evaluation<float>& wanted) override {
    const inference::DeviceUse use(device());
    std::vector<double> values(static_cast<std::size_t>(weights.values.rows));
    model().log_likelihood(weights, batch, noise, {.gradient = wanted.gradient, .value = values});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      if (wanted.late != nullptr)
        wanted.late->put(wanted.late_row + row, inference::device_memory(device().kind).send_home(0, &values[i], 1), 1);
      else if (wanted.wants_value())
        wanted.value[i] = values[i];
    }
  }
};

/// Sees one datum a minibatch, or no number where it is broken. A sample is the first weight.
class RunAheadTrainer final : public EpochTrainer {
 public:
  RunAheadTrainer(const EpochOptions& options, const WeightMethodOptions& method, bool on_device,
                  std::set<std::int64_t> broken = {})
      : EpochTrainer(options, method,
                     on_device ? std::unique_ptr<inference::Model<float>>(std::make_unique<DeviceMeanModel>())
                               : std::make_unique<test::MeanModel>(),
                     {.minibatches = minibatches_an_epoch, .data = minibatches_an_epoch}, 4),
        broken_(std::move(broken)) {}

  std::vector<float> samples;
  std::int64_t went_back = 0, lost = 0, dropped = 0;

 private:
  Snapshot meaning() const override { return {}; }
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override {
    const bool is_broken = broken_.contains(epoch * minibatches_an_epoch + c);
    y_.assign(2, is_broken ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(c % 9 + 1));
    return test::datum(y_, minibatches_an_epoch);
  }
  void stepped(const inference::StepReport& report) override {
    went_back += report.went_back, lost += report.lost_steps;
  }
  void take_sample() override {
    const auto& particles = weights().particles();
    samples.push_back(inference::host_copy<float>(particles.values(), particles.device()).view()(0, 0));
    REQUIRE(std::isfinite(samples.back()));
  }
  void drop_samples(std::int64_t count) override {
    dropped += count;
    samples.resize(samples.size() - static_cast<std::size_t>(count));
  }
  double validate() override { return 0; }
  void save_stream(Snapshot& snapshot) const override { snapshot.put("samples", samples); }
  void restore_stream(const Snapshot& snapshot) override { samples = snapshot.get_vector<float>("samples"); }

  std::set<std::int64_t> broken_;
  std::vector<float> y_;
};

EpochOptions options(std::int64_t samples_per_epoch = 2) {
  return {.epochs = epochs,
          .rate_decay = 0.9,
          .burn_in = 0.25,
          .samples_per_epoch = samples_per_epoch,
          .stored_samples = 0};
}

WeightMethodOptions method_of(const std::string& name) {
  test::Settings settings{{"step_size", "0.01"}, {"arithmetic", "reference"}};
  if (name == "sgld") settings["temperature_every"] = "7";
  if (name == "sghmc") settings["clip_norm"] = "2";
  return test::method_with(name, settings);
}

std::vector<std::pair<std::string, double>> recorded_numbers(EpochTrainer& trainer, std::int64_t until = 1'000'000) {
  runs::Records records(false);
  while (!trainer.ended() && trainer.steps_done() < until) trainer.advance(until, {}, records);
  std::vector<std::pair<std::string, double>> found;
  for (const auto& number : records.numbers()) found.emplace_back(number.tag, number.value);
  return found;
}

std::map<std::string, Snapshot::Bytes> state_of(const EpochTrainer& trainer) {
  Snapshot snapshot;
  trainer.save(snapshot);
  std::map<std::string, Snapshot::Bytes> found;
  for (const auto& [name, array] : snapshot.arrays()) found[name] = array.bytes;
  return found;
}

/// Updates that were taken, as its checkpoint has them, and the log-likelihood of the last one.
std::pair<std::int64_t, double> last_update(const EpochTrainer& trainer) {
  Snapshot snapshot;
  trainer.save(snapshot);
  const Snapshot progress = snapshot.part("training").part("progress");
  return {progress.get_scalar<std::int64_t>("updates"), progress.get_scalar<double>("log_likelihood")};
}

/// Whether a trainer waits for the update that makes so many minibatches.
bool looks_behind(std::int64_t minibatch) {
  return runs::is_recorded(minibatch) || minibatch % minibatches_an_epoch == 0 ||
         (minibatch >= 112 && (minibatch - 112) % 25 == 0);
}

void check_same(const EpochTrainer& found, const EpochTrainer& expected) {
  const auto a = state_of(found), b = state_of(expected);
  REQUIRE(a.size() == b.size());
  for (const auto& [name, bytes] : b) {
    CAPTURE(name);
    CHECK((a.at(name) == bytes));
  }
}

TEST_CASE("a training whose host runs ahead has records, samples and checkpoints of the host's own",
          "[training][run-ahead]") {
  for (const char* const name : {"sgd", "adam", "sgld", "psgld", "sghmc", "sgnht", "santa", "bbb", "svgd"}) {
    CAPTURE(name);
    RunAheadTrainer host(options(), method_of(name), false), device(options(), method_of(name), true);
    for (const std::int64_t until : {1L, 130L, 131L, 133L, 201L, minibatches_an_epoch * epochs}) {
      CAPTURE(until);
      CHECK((recorded_numbers(device, until) == recorded_numbers(host, until)));
      CHECK(device.samples == host.samples);
      check_same(device, host);
    }
  }
}

TEST_CASE("what diverges on a device is taken back, with its samples and without its loss", "[training][run-ahead]") {
  // Of minibatches counted from 1, even ones are recorded behind 128, and each fourth behind 256; samples are 112, 137,
  // 162, …, and an epoch has 50. A failure is found one minibatch later where nobody looks behind its own.
  for (const std::int64_t broken : {129L, 136L, 149L, 186L, 257L, 260L, minibatches_an_epoch * epochs - 1}) {
    CAPTURE(broken);
    RunAheadTrainer host(options(), method_of("sgld"), false, {broken}),
        device(options(), method_of("sgld"), true, {broken});
    recorded_numbers(host);
    for (const auto& [tag, value] : recorded_numbers(device)) CHECK(std::isfinite(value));
    CHECK((host.went_back == 1 && device.went_back == 1));
    CHECK(device.dropped == host.dropped);
    // Where nobody looks behind the broken minibatch, it counts as taken, and the next one is lost with it.
    const bool late = !looks_behind(broken + 1), last = broken + 1 == minibatches_an_epoch * epochs;
    CHECK(device.lost == host.lost + (late ? 1 : 0));
    CHECK(last_update(device).first == last_update(host).first - (late || last ? 0 : 1));
    if (last) CHECK(last_update(device).second == last_update(host).second);
    CHECK(std::abs(std::ssize(device.samples) - std::ssize(host.samples)) <= (late ? 1 : 0));
    CHECK(device.warning().has_value());
    const std::string update = fmt::format("at update {}", broken);
    CHECK(device.warning()->find(update) != std::string::npos);
    CHECK(host.warning()->find(update) != std::string::npos);
  }
}

TEST_CASE("a training on a device that diverges goes on from any minibatch with the same bits",
          "[training][run-ahead][resume]") {
  for (const std::int64_t broken : {136L, 149L, 257L, 258L})
    for (const std::int64_t until : {broken, broken + 1, broken + 2, broken + 9}) {
      CAPTURE(broken, until);
      const auto make = [&] {
        return std::make_unique<RunAheadTrainer>(options(), method_of("sghmc"), true, std::set{broken});
      };
      const auto whole = make(), first = make(), second = make();
      const auto records = recorded_numbers(*whole);
      auto in_parts = recorded_numbers(*first, until);
      Snapshot state;
      first->save(state);
      second->restore(state);
      for (const auto& record : recorded_numbers(*second)) in_parts.push_back(record);
      CHECK((in_parts == records));
      check_same(*second, *whole);
      CHECK(first->went_back + second->went_back == whole->went_back);
    }
}

TEST_CASE("a training waits for a device where weights or losses are looked at, and nowhere else",
          "[training][run-ahead]") {
  for (const char* const name : {"sgd", "sgld", "sghmc", "bbb"}) {
    CAPTURE(name);
    WeightMethodOptions method = method_of(name);
    OptionTable table = OptionTable::of(method);
    if (table.contains("temperature_every")) table.set("temperature_every", "1000");
    RunAheadTrainer trainer(options(1), method, true);
    recorded_numbers(trainer, 257);
    runs::Records records(false);
    const std::int64_t before = test::fenced_waits();
    trainer.advance(259, {}, records);  // of which none is recorded
    CHECK(trainer.steps_done() == 259);
    CHECK(test::fenced_waits() - before == 1);  // at the end of what was asked for
  }
}

}  // namespace
}  // namespace stein::training
