#include <stein/core/checkpoint.h>
#include <stein/core/error.h>
#include <stein/core/line_answers.h>
#include <stein/core/log.h>
#include <stein/core/nearest_name.h>
#include <stein/core/read_file.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/decision_service.h>
#include <stein/replay/prediction.h>
#include <stein/runs/measured.h>
#include <stein/runs/recorded_manifest.h>
#include <stein/runs/recorded_settings.h>

#include <algorithm>
#include <iterator>

namespace stein::replay {
namespace {

using Json = nlohmann::ordered_json;

/// Columns of the context that the run learned from; none where they had no names.
std::vector<std::string> columns_of_run(const RunDirectory& directory) {
  const Json protocol = runs::read_manifest(directory).at("protocol");
  return protocol.value("columns", std::vector<std::string>{});
}

/// Throws Error(usage) for columns with other names than the run had, both sorted.
void check_names(const std::vector<std::string>& found, const std::vector<std::string>& of_run) {
  if (found.empty() || of_run.empty() || found == of_run) return;
  std::vector<std::string> missing, strange;
  std::ranges::set_difference(of_run, found, std::back_inserter(missing));
  std::ranges::set_difference(found, of_run, std::back_inserter(strange));
  std::string text;
  for (const std::string& name : missing) {
    const auto meant = nearest_name(name, strange);
    text += fmt::format("{}'{}'{}", text.empty() ? "" : ", ", name,
                        meant ? fmt::format(" (there is '{}': is it meant?)", *meant) : "");
  }
  STEIN_CHECK(missing.empty(), "the contexts have no column {}; the policy learned from {}", text,
              fmt::join(of_run, ", "));
  fail(ErrorKind::usage, "the contexts have columns that the policy did not learn from: {}; it learned from {}",
       fmt::join(strange, ", "), fmt::join(of_run, ", "));
}

/// Throws Error(usage) unless contexts of the format are such as the policy learned from.
void check_fits(const LogFormat& format, const envs::BanditSpec& spec) {
  const envs::BanditSpec& has = format.spec();
  STEIN_CHECK(has.dense_columns() == spec.dense_columns() && has.active_columns == spec.active_columns &&
                  has.arm_features == spec.arm_features,
              "contexts of the format {} have {} numbers and {} for each arm, the policy learned from {} and {}{}",
              has.name, has.dense_columns(), has.arm_features, spec.dense_columns(), spec.arm_features,
              spec.active_columns > 0 ? ", one-hot: give them as json" : "");
}

/// Throws Error(data) where the run has ended, and the checkpoint is not that of its end: it was damaged or removed.
void check_last(const RunDirectory& directory, const Checkpoint& checkpoint) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory.summary(), ignored)) return;
  const Json summary = Json::parse(read_file(directory.summary()), nullptr, false);
  if (!summary.is_object()) return;
  std::uint64_t last = summary.value("steps", std::uint64_t{0});
  if (summary.contains("steps_done"))
    last = static_cast<std::uint64_t>(std::ranges::max(summary["steps_done"]["per_seed"].get<std::vector<double>>()));
  if (checkpoint.step < last)
    fail(ErrorKind::data,
         "the last checkpoint of the run in '{}' is damaged or gone: the one after {} of {} steps is not what the run "
         "learned",
         directory.root().string(), checkpoint.step, last);
}

std::unique_ptr<Snapshot> snapshot_of(const std::filesystem::path& folder) {
  const auto checkpoint = load_latest_checkpoint(folder);
  return checkpoint ? std::make_unique<Snapshot>(checkpoint->state) : nullptr;
}

}  // namespace

void Prediction::describe(OptionTable& table) {
  table("seed", seed_, "whose policy: a seed of the run; -1: its first", between(-1, 9e15));
  table("format", format_,
        "what contexts are written in: json, lines with the keys of a log of decisions, or a format of `stein list`");
  table("rewards", rewards_, "say mean and sd of the posterior reward of every arm too");
  table("learn", learn_, "learn from outcomes as they come, and keep what was learned with the run");
  table(
      "checkpoint_every", checkpoint_every_,
      "what a killed service that learns loses at most: what it has learned, and decisions that wait for their outcome",
      between(1, 1e9), "decisions and outcomes");
}

std::unique_ptr<LogFormat> Prediction::format_of(const runs::Experiment&, const std::string&) const {
  return nullptr;
}

std::filesystem::path Prediction::folder(const RunDirectory& directory, const runs::Experiment& experiment) const {
  return directory.file("service") / fmt::format("{}-{}", policy_name(experiment), served_seed(experiment));
}

std::uint64_t Prediction::served_seed(const runs::Experiment& experiment) const {
  const runs::SeedRange seeds = experiment.seeds();
  if (seed_ < 0) return seeds.first;
  const auto seed = static_cast<std::uint64_t>(seed_);
  STEIN_CHECK(seeds.contains(seed), "--seed {}: the run has seeds {}:{}", seed_, seeds.first, seeds.end);
  return seed;
}

std::unique_ptr<ServedPolicy> Prediction::serve(const RunDirectory& directory, const std::string& data) const {
  const auto experiment = runs::recorded_experiment(directory);
  const auto checkpoint = load_latest_checkpoint(directory.checkpoints());
  if (!checkpoint) fail(ErrorKind::data, "there is no checkpoint in '{}'", directory.checkpoints().string());
  check_last(directory, *checkpoint);
  std::error_code ignored;
  if (!std::filesystem::exists(directory.summary(), ignored))
    log_warning("the run in '{}' is not finished: the policy is the one after {} of its steps",
                directory.root().string(), checkpoint->step);
  runs::check_settings(*experiment, checkpoint->state, directory);
  const std::uint64_t seed = served_seed(*experiment);
  auto policy = make_policy(*experiment, checkpoint->state, seed, directory, data);
  policy->set_run_steps(checkpoint->step);
  const std::filesystem::path service = folder(directory, *experiment);
  if (const auto served = snapshot_of(service)) {
    policy->restore(served->part("policy"));
    if (policy->run_steps() > 0 && policy->run_steps() < checkpoint->step)
      log_warning(
          "the policy goes on as its service left it, which took it over after {} steps; the run has made {} "
          "since, and without '{}' the policy would decide as the run left it",
          policy->run_steps(), checkpoint->step, service.string());
  }
  return policy;
}

void Prediction::save(const RunDirectory& directory, const ServedPolicy& policy) const {
  Snapshot state;
  state.put_saved("policy", policy);
  save_checkpoint(folder(directory, *runs::recorded_experiment(directory)),
                  static_cast<std::uint64_t>(policy.decisions() + policy.outcomes()), state);
}

std::unique_ptr<LogFormat> Prediction::make_format(const runs::Experiment& experiment) const {
  if (auto own = format_of(experiment, format_)) return own;
  return log_formats().at(format_).builder()->make();
}

Json Prediction::perform(const RunDirectory& directory, const std::string& data, const runs::Console& console) {
  // A service that learns is the only one of its run.
  const RunDirectory held = RunDirectory::open(directory.root(), learn_ ? Access::write : Access::read);
  const auto policy = serve(held, data);
  std::unique_ptr<LogFormat> format;
  if (format_ == "json") {
    if (!policy->spec().numbers.empty())
      log_info(
          "a context is a row of a table: {{\"context\":{{\"{}\":…}}}} is taken as the table has it, a list of "
          "numbers as the policy sees it, standardised",
          policy->spec().numbers.front().column);
    format = std::make_unique<DecisionLog>(DecisionLog::Options{});
    format->begin(decision_log_head(policy->spec()));
  } else {
    format = make_format(*runs::recorded_experiment(directory));
  }
  if (learn_) {
    policy->begin_session();
    save(held, *policy);  // the next service must know of this one
  }
  const std::vector<std::string> columns = columns_of_run(held);
  DecisionService service(*policy, *format, {.learn = learn_, .rewards = rewards_});
  LineStream lines(fileno(console.in));
  LineAnswers answers(console.out);
  bool first = format_ != "json";
  const std::int64_t known = policy->outcomes();
  const auto done = [&] { return policy->decisions() + policy->outcomes(); };
  std::int64_t saved = done();
  for (std::string_view line; lines.next(line, console.stop);) {
    if (first && !DecisionService::is_outcome(line)) {
      first = false;
      format->begin_contexts(line);
      check_names(format->context_names(), columns);
      check_fits(*format, policy->spec());
    }
    answers.add(lines, [&](std::string& text) { service.answer(line, text); });
    if (!learn_ || done() < saved + checkpoint_every_) continue;
    save(held, *policy);
    saved = done();
  }
  answers.finish([&](std::string& text) { service.finish(text); });
  if (learn_) save(held, *policy);
  if (service.errors() > 0 && service.decisions() == 0 && policy->outcomes() == known)
    fail(ErrorKind::data, "no line was understood; the answers say why, beginning with: {}", service.first_error());
  return {{"decisions", service.decisions()}, {"outcomes", policy->outcomes()}, {"errors", service.errors()}};
}

std::string Prediction::readable(const Json& result) const {
  const auto count = [&](const char* field, std::string_view what) {
    return runs::counted(result[field].get<std::int64_t>(), what);
  };
  return fmt::format("{}, {} known to the policy, {} not understood\n", count("decisions", "decision"),
                     count("outcomes", "outcome"), count("errors", "line"));
}

}  // namespace stein::replay
