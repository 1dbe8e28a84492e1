#include <stein/agents/bandits/bandit_run.h>
#include <stein/core/atomic_file.h>
#include <stein/core/data/manifest.h>
#include <stein/replay/decision_log.h>
#include <stein/runs/data_checksums.h>
#include <stein/runs/measured.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;
using runs::measured;
using runs::number;

/// Repetitions wait for each other this often [interactions]: often enough to stop soon when asked to, rarely enough to
/// cost nothing.
constexpr std::int64_t block_size = 8;

replay::LoggedDecision logged(const Interaction& now, std::uint64_t seed) {
  return {.seed = seed,
          .step = now.step,
          .row = now.row,
          .context = now.context,
          .action = now.action,
          .reward = now.reward,
          .expected_rewards = now.expected_rewards,
          .propensities = now.propensities,
          .deterministic = now.deterministic};
}

double entropy(std::span<const double> probabilities) {
  double sum = 0;
  for (const double p : probabilities)
    if (p > 0) sum -= p * std::log(p);
  return sum;
}

}  // namespace

std::vector<double> BanditResult::percent_of_uniform() const {
  std::vector<double> percent;
  for (std::size_t i = 0; i < regret.size(); ++i) percent.push_back(100 * regret[i] / uniform_regret[i]);
  return percent;
}

std::vector<double> BanditResult::lock_in() const {
  std::vector<double> locked;
  for (std::size_t i = 0; i < regret.size(); ++i)  // equal but for the order of a sum is not worse
    locked.push_back(regret[i] > uniform_regret[i] * (1 + 1e-9) ? 1 : 0);
  return locked;
}

void BanditRepetition::advance(std::int64_t until, const StopToken&, runs::Records& records) {
  const std::int64_t block_end = std::min(until, agent_->steps_done() + block_size);
  while (agent_->steps_done() < block_end) {
    const Interaction& now = agent_->step();
    const std::int64_t done = agent_->steps_done();
    if (records.wants_lines())
      records.line(done, replay::decision_line(logged(now, agent_->seed()), agent_->environment().spec()));
    entropy_sum_ += entropy(now.propensities);
    ++entropy_count_;
    if (!runs::is_recorded(done)) continue;
    records.number(done, "regret", now.regret);
    records.number(done, "uniform_regret", now.uniform_regret);
    records.number(done, "reward", now.total_reward);
    records.number(done, "propensity_entropy", entropy_sum_ / static_cast<double>(entropy_count_));
    entropy_sum_ = 0;
    entropy_count_ = 0;
    for (const auto& [tag, value] : agent_->learner().policy().diagnostics()) records.number(done, tag, value);
  }
}

void BanditRepetition::save(Snapshot& snapshot) const {
  agent_->save(snapshot);
  snapshot.put("entropy_sum", entropy_sum_);
  snapshot.put("entropy_count", entropy_count_);
}

void BanditRepetition::restore(const Snapshot& snapshot) {
  agent_->restore(snapshot);
  entropy_sum_ = snapshot.get_scalar<double>("entropy_sum");
  entropy_count_ = snapshot.get_scalar<std::int64_t>("entropy_count");
}

BanditRun::BanditRun(runs::SeedRange seeds, const MakeAgent& make_agent, Facts facts)
    : RunOf(
          seeds, [&](std::uint64_t seed) { return std::make_unique<BanditRepetition>(make_agent(seed)); },
          facts.log_decisions ? "decisions.jsonl" : ""),
      facts_(std::move(facts)) {}

BanditResult BanditRun::result() const {
  BanditResult result;
  for (std::int64_t i = 0; i < count(); ++i) {
    const Interaction& last = repetition(i).agent().last();
    result.regret.push_back(last.regret);
    result.uniform_regret.push_back(last.uniform_regret);
    result.reward.push_back(last.total_reward);
  }
  return result;
}

policies::BanditLearner::Timing BanditRun::timing() const {
  policies::BanditLearner::Timing sum = earlier_;
  for (std::int64_t i = 0; i < count(); ++i) sum += repetition(i).agent().learner().timing();
  return sum;
}

std::string BanditRun::line_log_head() const {
  return replay::decision_log_head(spec());
}

std::string BanditRun::source() const {
  return fmt::format("{} data ({})", spec().data, spec().source);
}

std::vector<std::string> BanditRun::notices() const {
  std::vector<std::string> found;
  if (facts_.environment.ends_with("-synthetic"))
    found.push_back(fmt::format("'{}' is a synthetic stand-in, not the real data set", facts_.environment));
  if (!spec().notice.empty()) found.push_back(spec().notice);
  return found;
}

std::vector<std::string> BanditRun::warnings() const {
  std::vector<std::string> found = Run::warnings();
  std::int64_t forced = 0;
  for (std::int64_t i = 0; i < count(); ++i) {
    const policies::BanditLearner& learner = repetition(i).agent().learner();
    if (learner.forced() == 0 || learner.forced() < learner.decisions()) return found;
    forced = std::max(forced, learner.forced());
  }
  found.push_back(fmt::format(
      "all {} interactions were forced pulls, the first forced_pulls of each of {} arms: nothing was decided by the "
      "policy; set steps for more, or fewer forced_pulls",
      forced, spec().arms));
  return found;
}

/// N: what the posterior is conditioned on.
std::string BanditRun::data_size() const {
  if (!facts_.learns) return "none: the policy does not learn";
  const policies::BanditPolicy& policy = repetition(0).agent().learner().policy();
  const std::string interactions = !policy.learns_from_minibatches() || facts_.window == 0
                                       ? "all interactions so far"
                                       : fmt::format("interactions in the window, at most {}", facts_.window);
  const std::int64_t most = policy.largest_data_size();
  return most == 0 ? interactions : fmt::format("{}, which count for {} at most", interactions, most);
}

Json BanditRun::protocol() const {
  const std::optional<double> temperature = repetition(0).agent().learner().policy().temperature();
  return {{"env", facts_.environment}, {"env_options", facts_.environment_options},
          {"policy", facts_.policy},   {"data", spec().data},
          {"source", spec().source},   {"bandit", Json::parse(replay::decision_log_head(spec()))},
          {"N", data_size()},          {"T", temperature ? Json(*temperature) : Json(nullptr)}};
}

void BanditRun::check_manifest(const Json& manifest) const {
  runs::check_data_checksums(manifest, data_checksums(), "the table", "begin a new run");
}

std::map<std::string, std::string> BanditRun::data_checksums() const {
  std::map<std::string, std::string> sums = spec().files;
  if (!sums.empty() || spec().data != "real") return sums;
  for (const DataSet& set : data_sets()) {
    if (set.name != spec().name) continue;
    for (const DataFile& file : set.files) sums[file.name] = file.sha256;
  }
  return sums;
}

Json BanditRun::cost() const {
  const policies::BanditLearner::Timing sum = timing();
  return {{"deciding_seconds", sum.deciding_seconds},
          {"learning_seconds", sum.learning_seconds},
          {"timed_decisions", sum.timed_decisions},
          {"decisions", sum.decisions},
          {"updates", sum.updates}};
}

void BanditRun::add_cost(const Json& earlier) {
  earlier_ += {.deciding_seconds = earlier.at("deciding_seconds"),
               .learning_seconds = earlier.at("learning_seconds"),
               .timed_decisions = earlier.value("timed_decisions", earlier.at("decisions").get<std::int64_t>()),
               .decisions = earlier.at("decisions"),
               .updates = earlier.at("updates")};
}

Json BanditRun::summarize(const Watch&) {
  const BanditResult result = this->result();
  const policies::BanditLearner::Timing time = timing();
  return {{"env", facts_.environment},
          {"policy", facts_.policy},
          {"data", spec().data},
          {"source", spec().source},
          {"arm_names", spec().arm_names},
          {"regret", measured(result.regret)},
          {"uniform_regret", measured(result.uniform_regret)},
          {"regret_percent_of_uniform", measured(result.percent_of_uniform())},
          {"lock_in_share", measured(result.lock_in())},
          {"reward", measured(result.reward)},
          {"decisions_per_second", number(time.decisions_per_second())},
          {"timed_decisions", time.timed_decisions},
          {"updates_per_second", number(time.updates_per_second())}};
}

void BanditRun::write_results(const RunDirectory& directory) {
  Json entries = Json::array();
  for (std::int64_t i = 0; i < count(); ++i) {
    BanditAgent& agent = repetition(i).agent();
    for (const auto& probe : agent.environment().probes()) {
      const auto samples = agent.policy().posterior_rewards(probe.context());
      if (samples.empty()) continue;
      entries.push_back({{"seed", agent.seed()},
                         {"probe", probe.name},
                         {"expected_rewards", probe.expected_rewards},
                         {"samples", samples}});
    }
  }
  if (!entries.empty()) write_file_atomically(directory.file("posteriors.json"), entries.dump() + "\n");
}

std::string decision_rate(const Json& summary) {
  constexpr std::int64_t enough = 200;
  const Json& rate = summary["decisions_per_second"];
  if (summary.value("timed_decisions", enough) < enough || !(runs::mean_of(rate) > 0)) return "-";
  return runs::text(rate, "{:.0f}");
}

std::string readable_bandit_summary(const Json& summary) {
  using runs::mean_and_deviation, runs::text;
  const std::size_t seeds = summary["seeds"].size();
  const double locked = runs::mean_of(summary["lock_in_share"]) * static_cast<double>(seeds);
  std::string lines = fmt::format("{} on {} ({} data), {} interactions\n\n", summary["policy"].get<std::string>(),
                                  summary["env"].get<std::string>(), summary["data"].get<std::string>(),
                                  summary["steps"].get<std::int64_t>());
  const auto line = [&](const char* name, const std::string& value) { lines += runs::summary_line(name, value); };
  line("regret", mean_and_deviation(summary["regret"]) + runs::spread_note(seeds));
  line("of uniform play", text(summary["regret_percent_of_uniform"]) + " %");
  line("seeds worse than that", fmt::format("{:.0f} of {}", locked, seeds));
  line("reward", mean_and_deviation(summary["reward"]));
  if (const std::string rate = decision_rate(summary); rate != "-") line("decisions a second", rate);
  if (summary["updates_per_second"] > 0) line("updates a second", text(summary["updates_per_second"], "{:.0f}"));
  line("peak memory", text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  line("wall time", text(summary["wall_seconds"], "{:.2f}") + " s");
  return lines;
}

}  // namespace stein::agents
