// Steps a second of every control task: all of VectorEnvironment::step (dynamics, checks, episodes, resets) against
// what the task names as its reference.
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/envs/vector_environment.h>

#include <array>

namespace stein::bench {
namespace {

using namespace stein::envs;

struct EnvironmentBenchmarkOptions {
  std::int64_t slots = 1024, slots_of_all_cores = 65536;
  std::string only;

  template <class V>
  void describe(V& v) {
    v("slots", slots, "of a vector environment on one core", between(1, 1e6));
    v("slots_of_all_cores", slots_of_all_cores, "of one on all cores", between(1, 1e6));
    v("only", only, "measure the tasks whose name begins so; empty: all");
  }
};

/// Uniform actions within their bounds for a number of steps, over and over.
class RandomActions {
 public:
  RandomActions(const ControlSpec& spec, std::int64_t slots) {
    for (std::uint32_t t = 0; t < steps_.size(); ++t) {
      Draws draws({.seed = 1, .stream = Stream::decision}, t);
      for (std::int64_t slot = 0; slot < slots; ++slot)
        for (const Quantity& range : spec.action)
          steps_[t].push_back(spec.discrete()
                                  ? static_cast<float>(draws.integer(static_cast<std::uint32_t>(spec.choices)))
                                  : static_cast<float>(draws.uniform(range.low, range.high)));
    }
  }
  std::span<const float> next() { return steps_[now_++ % steps_.size()]; }

 private:
  std::array<std::vector<float>, 16> steps_;
  std::size_t now_ = 0;
};

/// An environment of so many slots and the actions that move it.
class Walk {
 public:
  Walk(const ControlEntry::Builder& builder, std::int64_t slots)
      : environment_(builder.make(slots)), actions_(environment_->spec(), slots) {
    environment_->reset(0);
  }
  void step() {
    environment_->step(actions_.next());
    ended_ += static_cast<double>(environment_->episodes().size());
    keep(environment_->observations().front());
  }
  /// Steps of a slot between two resets.
  double episode_length() const {
    return static_cast<double>(environment_->slots() * environment_->steps()) / std::max(1.0, ended_);
  }

 private:
  std::unique_ptr<VectorEnvironment> environment_;
  RandomActions actions_;
  double ended_ = 0;
};

/// Steps a second of one core, against the reference of the task.
Row one_core(const std::string& name, const ControlEntry::Builder& builder, std::int64_t slots) {
  const StepReference reference = builder.reference(slots);
  Walk walk(builder, slots);
  RandomActions actions(builder.spec(), slots);
  const auto step = [&] { walk.step(); };
  const Pair seconds = measure_pair(step, [&] { reference.step(actions.next()); });
  const auto count = static_cast<double>(slots);
  Row row{.name = name,
          .ours = count / seconds.ours,
          .reference = count / seconds.reference,
          .unit = "steps/s",
          .better = Better::higher,
          .extra = {{"reference_is", reference.name}, {"slots", count}, {"steps_an_episode", walk.episode_length()}}};
  if (const auto allocations = allocations_in(step)) row.extra.emplace_back("allocations", double(*allocations));
  return row;
}

/// Steps a second of all cores, and how many times those of one.
void add_all_cores(Row& row, const ControlEntry::Builder& builder, std::int64_t slots, int threads) {
  Walk all(builder, slots), one(builder, slots);
  const auto step_with = [](Walk& walk, int count) {
    return [&walk, count] {
      set_thread_count(count);
      walk.step();
    };
  };
  const Pair seconds = measure_pair(step_with(all, threads), step_with(one, 1));
  row.extra.emplace_back("threads_of_all_cores", double(threads));
  row.extra.emplace_back("slots_of_all_cores", static_cast<double>(slots));
  row.extra.emplace_back("steps_per_second_of_all_cores", static_cast<double>(slots) / seconds.ours);
  row.extra.emplace_back("all_cores_to_one", seconds.reference / seconds.ours);
}

std::vector<Row> measure_envs(const EnvironmentBenchmarkOptions& options) {
  const int threads = thread_count();
  std::vector<Row> rows;
  for (const auto& [name, entry] : controls().entries()) {
    if (!name.starts_with(options.only)) continue;
    const auto builder = entry.builder();
    set_thread_count(1);
    rows.push_back(one_core(name, *builder, options.slots));
    if (threads > 1) add_all_cores(rows.back(), *builder, options.slots_of_all_cores, threads);
    set_thread_count(threads);
  }
  STEIN_CHECK(!rows.empty(), "option 'only': no control task begins with '{}'", options.only);
  return rows;
}

[[maybe_unused]] const bool registered = register_benchmark(
    "envs", "steps a second and core of every control task, against its reference", measure_envs, Cores::all);

}  // namespace
}  // namespace stein::bench
