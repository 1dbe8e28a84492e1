#include "recorded_bandit_run.h"

#include <stein/core/append_file.h>
#include <stein/core/atomic_file.h>
#include <stein/core/data/manifest.h>
#include <stein/core/parallel.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bandit_summary.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, std::string> data_checksums(const envs::BanditSpec& spec) {
  std::map<std::string, std::string> sums;
  if (spec.data != "real") return sums;
  for (const DataSet& set : data_sets()) {
    if (set.name != spec.name) continue;
    for (const DataFile& file : set.files) sums[file.name] = file.sha256;
  }
  return sums;
}

/// N: what the posterior is conditioned on.
std::string data_size(const BanditExperiment& experiment, const agents::BanditRun& run) {
  if (!experiment.learns()) return "none: the policy does not learn";
  if (!run.policy().learns_from_minibatches()) return "all interactions so far";
  return fmt::format("interactions in the window, at most {}", experiment.agent_options().buffer);
}

void write_posteriors(agents::BanditRun& run, const RunDirectory& directory) {
  Json entries = Json::array();
  for (const auto& [seed, probe, expected, samples] : run.probed_posteriors())
    entries.push_back({{"seed", seed}, {"probe", probe}, {"expected_rewards", expected}, {"samples", samples}});
  if (!entries.empty()) write_file_atomically(directory.posteriors(), entries.dump() + "\n");
}

}  // namespace

std::string RecordedBanditRun::source() const {
  return fmt::format("{} data ({})", run_->spec().data, run_->spec().source);
}

std::vector<std::string> RecordedBanditRun::notices() const {
  if (!experiment_.environment().ends_with("-synthetic")) return {};
  return {fmt::format("'{}' is a synthetic stand-in, not the real data set", experiment_.environment())};
}

RunManifest RecordedBanditRun::manifest() const {
  const std::string data_folder = data_.empty() ? "" : std::filesystem::absolute(data_).string();
  const Json protocol{
      {"env", experiment_.environment()},   {"env_options", experiment_.environment_options()},
      {"policy", experiment_.policy()},     {"data", run_->spec().data},
      {"source", run_->spec().source},      {"data_folder", data_folder},
      {"N", data_size(experiment_, *run_)}, {"T", experiment_.learns() ? Json(1) : Json(nullptr)},
  };
  return {.command = "bandit",
          .first_seed = experiment_.seeds().first,
          .end_seed = experiment_.seeds().end,
          .threads = thread_count(),
          .data_checksums = data_checksums(run_->spec()),
          .protocol = protocol.dump()};
}

void RecordedBanditRun::open_logs(const RunDirectory& directory) {
  truncate_file(directory.decisions(), decisions_bytes_);
  if (experiment_.log_decisions()) decisions_ = std::make_unique<agents::DecisionLog>(directory.decisions());
}

void RecordedBanditRun::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  run_->advance(until, stop, {outputs.recorder, outputs.progress, decisions_.get()});
}

void RecordedBanditRun::save(Snapshot& snapshot) {
  snapshot.put("decisions_bytes", decisions_ ? decisions_->sync() : std::uint64_t{0});
  run_->save(snapshot);
}

void RecordedBanditRun::restore(const Snapshot& snapshot) {
  run_->restore(snapshot);
  decisions_bytes_ = snapshot.get_scalar<std::uint64_t>("decisions_bytes");
}

agents::BanditAgent::Timing RecordedBanditRun::timing() const {
  agents::BanditAgent::Timing sum = earlier_;
  sum += run_->result().timing;
  return sum;
}

Json RecordedBanditRun::cost() const {
  const agents::BanditAgent::Timing sum = timing();
  return {{"deciding_seconds", sum.deciding_seconds},
          {"learning_seconds", sum.learning_seconds},
          {"decisions", sum.decisions},
          {"updates", sum.updates}};
}

void RecordedBanditRun::add_cost(const Json& earlier) {
  earlier_ += {.deciding_seconds = earlier.at("deciding_seconds"),
               .learning_seconds = earlier.at("learning_seconds"),
               .decisions = earlier.at("decisions"),
               .updates = earlier.at("updates")};
}

Json RecordedBanditRun::finish(const RunDirectory& directory, const Outputs&, const RunCost& cost) {
  write_posteriors(*run_, directory);
  return summarize(*run_, experiment_.environment(), experiment_.policy(), cost, timing());
}

}  // namespace stein::cli
