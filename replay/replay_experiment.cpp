#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/replay/logging_policy.h>
#include <stein/replay/replay_experiment.h>
#include <stein/replay/replay_run.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <filesystem>

namespace stein::replay {
namespace {

/// What an agent does at every interaction would take days on a log.
policies::BanditLearner::Options learning_from_logs() {
  return {.buffer = 50'000, .batch = 64, .updates = 1};
}

constexpr std::int64_t most_arms = 1'000'000;

bool has_networks_on_devices(const std::string& policy) {
  return policies::bandit_policies().at(policy).on_devices;
}

/// The list that `key` has in the sources.
std::vector<std::string> list_ahead(const runs::OptionSources& sources, std::string_view key,
                                    std::vector<std::string> value) {
  OptionTable table;
  table(key, value, "");
  table.set(key, sources.look_ahead(key, table.get(key)));
  return value;
}

}  // namespace

ReplayExperiment::ReplayExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : Experiment(kind, {.steps = 0, .checkpoint_every = 1'000'000, .may_end = true}), learning_(learning_from_logs()) {
  const std::string format = sources.look_ahead("format", format_);
  const std::vector<std::string> names = list_ahead(sources, "policy", policy_);
  STEIN_CHECK(!names.empty(), "option 'policy' names no policy");
  format_builder_ = log_formats().at(format).builder();
  for (const std::string& name : names) {
    STEIN_CHECK(std::ranges::count(names, name) == 1, "option 'policy' names '{}' twice", name);
    policies_.push_back({name, name == logged ? nullptr : policies::bandit_policies().at(name).builder()});
  }
  add_run([this](OptionTable& table) {
    table("log", log_, "files of the log, plain or gzip, in order");
    table("format", format_, "what the lines of the log look like; `stein list` names the formats");
    table("policy", policy_, "policies to compare, `logged` being the one that made the log; `stein list` names them");
    table("device", device_,
          "where the networks of policies are, learn and predict: cpu, cuda (the first GPU; of several ranks on a "
          "machine each its own) or cuda:INDEX; policies that can have none there stay on the processor")
        .in_older_runs("cpu");
    table("strict", strict_, "stop at the first line that no event can be made of, instead of counting such lines");
    table("arms", arms_,
          "the most arms that there may be, in the log and where its policies decide later; 0: those of the log, and "
          "1,000 more where arms have features, by which new ones are known, for which the log is read once more",
          between(0, most_arms));
    table("window", window_,
          "events from one record of the rewards to the next; 0: a twentieth of those so far, from 200 to 20,000",
          between(0, 1e12), "events");
  });
  add_part("Estimates", [this](OptionTable& table) { comparison_.describe(table); });
  add_part("Learning", [this](OptionTable& table) {
    learning_.describe(table);
    delivery_.describe(table);
  });
  add_part("Format " + format, [this](OptionTable& table) { format_builder_->describe(table); });
  for (const Named& named : policies_)
    if (named.builder)
      add_part("Policy " + named.name, [&](OptionTable& table) { table.part(named.name, *named.builder); });
  format_ = format;
  policy_ = names;
  group_options(names);
  read(sources);
  for (std::string& file : log_) file = std::filesystem::absolute(file).string();
  check_device();
}

std::string ReplayExperiment::name() const {
  return fmt::format("{}/{}", format_, fmt::join(policy_, "+"));
}

void ReplayExperiment::check_device() const {
  const inference::Device device = inference::parse_device(device_);
  const auto can = [](const Named& named) { return named.builder && has_networks_on_devices(named.name); };
  if (std::ranges::none_of(policies_, can)) policies::check_on_host(policy_.front(), device);
}

std::unique_ptr<LogReader> ReplayExperiment::make_reader(const Arms& arms) const {
  auto format = make_format();
  if (!arms.names.empty()) format->know_arms(arms.names);
  return std::make_unique<LogReader>(std::vector<std::filesystem::path>(log_.begin(), log_.end()), std::move(format),
                                     arms.room, strict_ ? BadLines::stop : BadLines::count);
}

ReplayExperiment::Arms ReplayExperiment::count_arms() const {
  const auto reader = make_reader({.room = arms_ > 0 ? arms_ : most_arms});
  LoggedEvent event;
  if (!reader->next(event))
    fail(ErrorKind::data, "there is no event in {}{}", fmt::join(log_, ", "),
         reader->bad_lines().empty() ? "" : fmt::format(" (bad lines: {})", reasons_text(reader->bad_lines())));
  if (arms_ > 0) return {.room = arms_};
  if (const std::int64_t known = reader->format().spec().arms; known > 0) return {.room = known};
  while (reader->next(event)) {
  }
  constexpr std::int64_t new_arms = 1000;
  Arms arms{.room = reader->arms().size() + (reader->spec().arm_features > 0 ? new_arms : 0)};
  for (std::int64_t arm = 0; arm < reader->arms().size(); ++arm) arms.names.emplace_back(reader->arms().name(arm));
  return arms;
}

std::unique_ptr<JudgedPolicy> ReplayExperiment::make_policy(const Named& named, const envs::BanditSpec& spec,
                                                            std::uint64_t seed, inference::Device device) const {
  // Every seed's interval takes its part of what may be missed, so that the mean of their ends covers as one would.
  const double miss = (1 - comparison_.level) / static_cast<double>(seeds().count());
  std::optional<ConfidenceSequence> sequence;
  if (spec.bounded) sequence.emplace(spec.reward_low, spec.reward_high, 1 - miss);
  if (!named.builder) return std::make_unique<LoggingPolicy>(sequence);
  auto learner = make_learner(named.name, spec, seed, device);
  if (!policies::bandit_policies().at(named.name).learns && delivery_.at_once())
    return std::make_unique<StationaryReplay>(std::move(learner), sequence);
  return std::make_unique<PolicyReplay>(std::move(learner), delivery_, sequence);
}

std::unique_ptr<policies::BanditLearner> ReplayExperiment::make_learner(const std::string& policy,
                                                                        const envs::BanditSpec& spec,
                                                                        std::uint64_t seed,
                                                                        inference::Device device) const {
  const auto named = std::ranges::find(policies_, policy, &Named::name);
  std::vector<std::string> choosing = policy_;
  std::erase(choosing, logged);
  STEIN_CHECK(named != policies_.end() && named->builder, "the replay has no policy '{}' that chooses arms; it has {}",
              policy, fmt::join(choosing, ", "));
  policies::BanditLearner::Options learning = learning_;
  if (!policies::bandit_policies().at(policy).learns) learning.forced_pulls = 0;
  const inference::Device own = has_networks_on_devices(policy) ? device : inference::Device{};
  return std::make_unique<policies::BanditLearner>(learning, spec, seed, named->builder->make(spec, seed, own));
}

std::unique_ptr<runs::Run> ReplayExperiment::make_run(const std::string&) const {
  STEIN_CHECK(!log_.empty(), "no log is named: pass --log FILE…");
  const inference::Device device = inference::own_device(device_);
  inference::check_present(device);
  const auto make_repetition = [this, device, arms = count_arms()](std::uint64_t seed) {
    auto reader = make_reader(arms);
    PolicyComparison comparison(comparison_, reader->spec());
    for (const Named& named : policies_) comparison.add(named.name, make_policy(named, reader->spec(), seed, device));
    return std::make_unique<ReplayRepetition>(seed, std::move(reader), std::move(comparison), window_);
  };
  return std::make_unique<ReplayRun>(
      seeds(), make_repetition,
      ReplayRun::Facts{.files = log_,
                       .format = format_,
                       .format_options = values_of("Format " + format_),
                       .window = learning_.buffer,
                       .smallest_sample = static_cast<double>(comparison_.smallest_sample),
                       .level = comparison_.level});
}

std::vector<runs::Part> replay_parts() {
  policies::BanditLearner::Options learning = learning_from_logs();
  ComparisonOptions comparison;
  DeliveryOptions delivery;
  OptionTable table = OptionTable::of(learning);
  table.append(OptionTable::of(delivery));
  std::vector<runs::Part> parts{runs::make_part("estimates", "", "", OptionTable::of(comparison)),
                                runs::make_part("learning", "", "", table)};
  runs::add_parts(parts, "format", log_formats());
  runs::add_parts(parts, "policy", policies::bandit_policies());
  return parts;
}

}  // namespace stein::replay
