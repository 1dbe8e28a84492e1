#include "recorded_control_run.h"

#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>

#include <nlohmann/json.hpp>

#include "control_summary.h"
#include "film.h"
#include "visits.h"

namespace stein::cli {

using Json = nlohmann::ordered_json;

/// An agent that collects whole paths plays those that it began to their end.
std::int64_t RecordedControlRun::largest_advance() const {
  const std::int64_t planned = run_->agent(0).steps_per_iteration();
  if (experiment_.agent_options().learner != agents::Learner::reinforce) return planned;
  return planned + planned / experiment_.agent_options().steps * experiment_.horizon();
}

std::string RecordedControlRun::source() const {
  return fmt::format("version {} ({})", run_->spec().version, run_->spec().source);
}

RunManifest RecordedControlRun::manifest() const {
  const envs::ControlSpec& spec = run_->spec();
  const bool stein = agents::is_stein(experiment_.agent_options().posterior);
  const Json protocol{
      {"env", experiment_.environment()},
      {"env_version", spec.version},
      {"env_options", experiment_.environment_options()},
      {"agent", experiment_.agent()},
      {"posterior", experiment_.posterior()},
      {"source", spec.source},
      {"horizon", experiment_.horizon()},
      {"N", stein ? "none: the posterior is prior × exp(J/α), J the mean return" : "none: J is maximised"},
      {"T", stein ? Json(1) : Json(nullptr)},
  };
  return {.command = "rl",
          .first_seed = experiment_.seeds().first,
          .end_seed = experiment_.seeds().end,
          .threads = thread_count(),
          .protocol = protocol.dump()};
}

void RecordedControlRun::check_manifest(const Json& manifest) const {
  check_environment_version(manifest, run_->spec());
}

void RecordedControlRun::advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) {
  run_->advance(until, stop, {outputs.recorder, outputs.progress});
}

Json RecordedControlRun::cost() const {
  Json training = Json::array(), to_threshold = Json::array();
  for (const agents::ControlTiming& timing : run_->timing()) {
    training.push_back(timing.training_seconds);
    to_threshold.push_back(timing.seconds_to_threshold ? Json(*timing.seconds_to_threshold) : Json(nullptr));
  }
  return {{"training_seconds", training}, {"seconds_to_threshold", to_threshold}};
}

void RecordedControlRun::add_cost(const Json& earlier) {
  std::vector<agents::ControlTiming> timing;
  for (const Json& seconds : earlier.at("training_seconds")) timing.push_back({.training_seconds = seconds});
  for (std::size_t i = 0; i < timing.size(); ++i)
    if (const Json& seconds = earlier.at("seconds_to_threshold").at(i); seconds.is_number())
      timing[i].seconds_to_threshold = seconds.get<double>();
  if (std::ssize(timing) == run_->agent_count()) run_->add_timing(timing);
}

Json RecordedControlRun::finish(const RunDirectory& directory, const Outputs& outputs, const RunCost& cost) {
  run_->finish({outputs.recorder, outputs.progress});
  const agents::ControlAgent& first = run_->agent(0);
  write_file_atomically(directory.visits(), visited_states(experiment_, first).dump() + "\n");
  if (const Scene* scene = find_scene(experiment_.environment()))
    write_file_atomically(directory.episode(),
                          make_svg({run_->spec(), *scene, play_for_film(experiment_, first, -1, 0)}));
  return summarize_control(experiment_, *run_, cost);
}

void check_environment_version(const Json& manifest, const envs::ControlSpec& spec) {
  const std::int64_t began = manifest.at("protocol").value("env_version", std::int64_t{0});
  if (began == spec.version) return;
  fail(ErrorKind::data,
       "the run was played in version {} of '{}' and this program has version {}: the same actions no longer give the "
       "same numbers; begin another run, or use the commit that its manifest names ({})",
       began, spec.name, spec.version, manifest.value("commit", "unknown"));
}

}  // namespace stein::cli
