// Replay of a log: events a second of the linear policies, and how fast a log is read.
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/eigen_policy.h>
#include <stein/bench/event_stream.h>
#include <stein/bench/news_file.h>
#include <stein/core/error.h>
#include <stein/policies/lin_ts.h>
#include <stein/policies/lin_ucb.h>
#include <stein/replay/policy_replay.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <utility>

namespace stein::bench {
namespace {

constexpr std::int64_t lifetime = 2000;  ///< events until all 20 articles are others
constexpr double alpha = 0.5, lin_ts_precision = 0.25;

struct ReplayBenchmarkOptions {
  std::int64_t events = 9 * lifetime;
  std::string only;

  template <class V>
  void describe(V& v) {
    v("events", events, "of the log, 20 arms each; 200 in all of 18,000", between(100, 1e6));
    v("only", only, "measure only this case");
  }
};

/// A policy and what it sees.
struct Case {
  const char* name;
  bool thompson;
  std::int64_t columns;  ///< of the context
  bool common;           ///< one regression of the products of context and features of arms

  policies::RegressionForm form() const {
    return common ? policies::RegressionForm::common : policies::RegressionForm::disjoint;
  }
};
constexpr Case cases[]{{"linucb-6", false, 6, false},        {"linucb-36", false, 36, false},
                       {"linucb-common-36", false, 6, true}, {"lints-6", true, 6, false},
                       {"lints-36", true, 36, false},        {"lints-common-36", true, 6, true}};

std::unique_ptr<policies::BanditPolicy> make_ours(const Case& which, const envs::BanditSpec& spec) {
  if (which.thompson)
    return std::make_unique<policies::LinTs>(
        policies::LinTs::Options{.prior_precision = lin_ts_precision, .intercept = false, .regression = which.form()},
        spec, 1);
  return std::make_unique<policies::LinUcb>(
      policies::LinUcb::Options{.alpha = alpha, .intercept = false, .regression = which.form()}, spec, 1);
}

std::unique_ptr<policies::BanditPolicy> make_reference(const Case& which, const envs::BanditSpec& spec) {
  const double precision = which.thompson ? lin_ts_precision : 1;
  return std::make_unique<EigenPolicy>(
      EigenPolicy::Options{.common = which.common, .alpha = which.thompson ? 0 : alpha, .prior_precision = precision},
      spec, 1);
}

/// Replays all events with a policy that knows nothing at the start. No pulls are forced: the policy makes every
/// choice.
replay::PolicyReplay replayed(std::unique_ptr<policies::BanditPolicy> policy, EventStream& events) {
  const policies::BanditLearner::Options options{.buffer = 1, .batch = 1, .forced_pulls = 0};
  replay::PolicyReplay replay(std::make_unique<policies::BanditLearner>(options, events.spec(), 1, std::move(policy)),
                              {}, replay::ConfidenceSequence(0, 1));
  for (std::int64_t i = 0; i < events.size(); ++i) replay.take(events.event(i));
  return replay;
}

/// Heap allocations for all events, once the policy has learned of every arm that the log shows.
std::vector<std::pair<std::string, std::variant<double, std::string>>> allocations(replay::PolicyReplay& replay,
                                                                                   EventStream& events) {
  for (std::int64_t i = 0; i < events.size(); ++i) {
    const replay::LoggedEvent& event = events.event(i);
    replay.learner().learn(event.context(), {.action = event.action, .reward = event.reward});
  }
  const auto count = allocations_in([&] {
    for (std::int64_t i = 0; i < events.size(); ++i) replay.take(events.event(i));
  });
  if (!count) return {};
  return {{"allocations", static_cast<double>(*count)}};
}

/// Throws Error(numeric) unless both LinUCBs accept the same events.
void check_same(const replay::PolicyReplay& ours, const replay::PolicyReplay& reference) {
  if (ours.accepted() != reference.accepted() || ours.reward() != reference.reward())
    fail(ErrorKind::numeric, "LinUCB accepts {} events with {} clicks, the reference {} with {}", ours.accepted(),
         ours.reward(), reference.accepted(), reference.reward());
}

/// Processor time of a call, the median of nine: unlike the time that passes, it leaves out what else the machine does.
double processor_seconds(const std::function<void()>& call) {
  std::array<double, 9> seconds{};
  for (double& each : seconds) {
    const std::clock_t start = std::clock();
    call();
    each = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
  return seconds[seconds.size() / 2];
}

Row measure_policy(const Case& which, std::int64_t count) {
  EventStream events({.columns = which.columns, .arm_features = which.common}, count, lifetime);
  const envs::BanditSpec& spec = events.spec();
  const auto ours = [&] { return replayed(make_ours(which, spec), events); };
  const auto reference = [&] { return replayed(make_reference(which, spec), events); };
  auto first = ours();
  const double accepted = static_cast<double>(first.accepted());
  if (!which.thompson) check_same(first, reference());
  const Pair seconds = measure_pair([&] { keep(ours()); }, [&] { keep(reference()); });
  const double millions = static_cast<double>(count) / 1e6;
  Row row{.name = which.name,
          .ours = millions / seconds.ours,
          .reference = millions / seconds.reference,
          .unit = "million events/s",
          .better = Better::higher,
          .extra = {{"reference_is", "Eigen (" + eigen_regressions().instructions + "), Sherman-Morrison"},
                    {"million_per_cpu_second", millions / processor_seconds([&] { keep(ours()); })},
                    {"arms", static_cast<double>(spec.arms)},
                    {"accepted_share", accepted / static_cast<double>(count)}}};
  for (auto& extra : allocations(first, events)) row.extra.push_back(std::move(extra));
  return row;
}

/// How long articles are there decides how much of a line was in the one before.
Row measure_reading(const char* name, std::int64_t events, std::int64_t article_lifetime) {
  const NewsFile file(events, article_lifetime);
  const auto read = [&] { read_events(file.compressed(), events); };
  double fastest = 0;
  Pair seconds;
  for (const std::int64_t block : {1 << 16, 1 << 17, 1 << 18}) {
    const Pair found = measure_pair(read, [&] { decompress(file.compressed(), file.bytes(), block); });
    if (fastest == 0 || found.reference < fastest) seconds = found, fastest = found.reference;
  }
  const Pair plain = measure_pair([&] { read_events(file.plain(), events); }, [] {});
  const double megabytes = static_cast<double>(file.bytes()) / 1e6;
  return {.name = name,
          .ours = megabytes / seconds.ours,
          .reference = megabytes / seconds.reference,
          .unit = "MB/s",
          .better = Better::higher,
          .extra = {{"reference_is", "zlib, gzread alone"},
                    {"mb_per_cpu_second", megabytes / processor_seconds(read)},
                    {"plain_mb_per_s", megabytes / plain.ours}}};
}

std::vector<Row> measure_replay(const ReplayBenchmarkOptions& options) {
  std::vector<Row> rows;
  for (const Case& which : cases)
    if (options.only.empty() || options.only == which.name) rows.push_back(measure_policy(which, options.events));
  constexpr std::int64_t usual_lifetime = 20'000, always_new = 20;
  for (const auto& [name, article_lifetime] :
       {std::pair{"parse-r6a", usual_lifetime}, {"parse-r6a-changing", always_new}})
    if (options.only.empty() || options.only == name)
      rows.push_back(measure_reading(name, options.events, article_lifetime));
  STEIN_CHECK(!rows.empty(), "the benchmark has no case '{}'", options.only);
  return rows;
}

[[maybe_unused]] const bool registered = register_benchmark(
    "replay", "events of a log a second, of linear policies and of the reader of R6A", measure_replay);

}  // namespace
}  // namespace stein::bench
