#include <fmt/format.h>
#include <stein/agents/control/control_run.h>
#include <stein/agents/control/control_summary.h>
#include <stein/agents/control/pictures/film.h>
#include <stein/agents/control/pictures/visits.h>
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/runs/measured.h>
#include <stein/runs/seed_statistics.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

ControlRun::ControlRun(runs::SeedRange seeds, const MakeAgent& make_agent,
                       const envs::ControlEntry::Builder& environment, const ControlEvaluationOptions& evaluation,
                       Facts facts)
    : RunOf(seeds,
            [&](std::uint64_t seed) {
              return std::make_unique<ControlRepetition>(make_agent(seed), environment, evaluation);
            }),
      environment_(environment),
      spec_(environment.spec()),
      facts_(std::move(facts)) {}

const ControlRepetition& ControlRun::of_seed(std::uint64_t seed) const {
  for (std::int64_t i = 0; i < count(); ++i)
    if (repetition(i).seed() == seed) return repetition(i);
  fail(ErrorKind::usage, "the run has seeds {}:{}, there is no seed {} in it", repetition(0).seed(),
       repetition(count() - 1).seed() + 1, seed);
}

const ControlAgent& ControlRun::agent_of(std::int64_t seed) const {
  return seed < 0 ? repetition(0).agent() : of_seed(static_cast<std::uint64_t>(seed)).agent();
}

void ControlRun::check_particle(std::int64_t particle) const {
  const std::int64_t particles = repetition(0).agent().policy().particle_count();
  STEIN_CHECK(particle < particles, "--particle {}: the run has particles 0 to {}", particle, particles - 1);
}

std::vector<ControlOutcome> ControlRun::outcomes(const Watch& watch) const {
  watch.begin("final evaluation", "rounds of episodes", 3 * static_cast<std::uint64_t>(count()));
  std::vector<ControlOutcome> outcomes(static_cast<std::size_t>(count()));
  parallel_for(count(), [&](std::int64_t i) { outcomes[static_cast<std::size_t>(i)] = repetition(i).outcome(watch); });
  return outcomes;
}

std::string ControlRun::source() const {
  return fmt::format("version {} ({})", spec_.version, spec_.source);
}

std::vector<std::string> ControlRun::notices() const {
  constexpr std::int64_t few = 10;
  const std::int64_t planned = repetition(0).agent().steps_per_iteration();
  const std::int64_t iterations = (facts_.steps + planned - 1) / planned;
  std::vector<std::string> found;
  if (facts_.steps > 0 && planned > facts_.steps)
    found.push_back(fmt::format("an iteration takes {} steps, more than the {} that were asked for: it is played whole",
                                planned, facts_.steps));
  else if (facts_.steps > 0 && iterations < few)
    found.push_back(fmt::format("an iteration takes {} steps, so each repetition learns {}; set steps for more",
                                planned, runs::counted(iterations, "time")));
  const std::int64_t decay = repetition(0).agent().decay_steps();
  if (decay > 0 && decay < facts_.steps)
    found.push_back(
        fmt::format("step sizes fall to a hundredth over {} steps (decay_steps) and stay there; a run that is "
                    "made longer takes decay_steps={} with its steps",
                    decay, facts_.steps));
  return found;
}

Json ControlRun::protocol() const {
  return {{"env", facts_.environment},
          {"env_version", spec_.version},
          {"env_options", facts_.environment_options},
          {"agent", facts_.agent},
          {"posterior", facts_.posterior},
          {"source", spec_.source},
          {"horizon", facts_.horizon},
          {"N", facts_.stein ? "none: the posterior is prior × exp(J/α), J the mean return" : "none: J is maximised"},
          {"T", facts_.stein ? Json(1) : Json(nullptr)}};
}

void ControlRun::check_manifest(const Json& manifest) const {
  const Json began = manifest.value("protocol", Json::object()).value("env_version", Json(0));
  if (began == spec_.version) return;
  fail(ErrorKind::data,
       "the run was played in version {} of '{}' and this program has version {}: the same actions no longer give the "
       "same numbers; begin another run, or use the commit that its manifest names ({})",
       began.dump(), spec_.name, spec_.version, manifest.value("commit", "unknown"));
}

Json ControlRun::cost() const {
  Json training = Json::array(), to_threshold = Json::array();
  for (std::int64_t i = 0; i < count(); ++i) {
    const ControlTiming timing = repetition(i).timing();
    training.push_back(timing.training_seconds);
    to_threshold.push_back(timing.seconds_to_threshold ? Json(*timing.seconds_to_threshold) : Json(nullptr));
  }
  return {{"training_seconds", training}, {"seconds_to_threshold", to_threshold}};
}

void ControlRun::add_cost(const Json& earlier) {
  const Json& training = earlier.at("training_seconds");
  const Json& to_threshold = earlier.at("seconds_to_threshold");
  if (std::ssize(training) != count()) return;
  for (std::int64_t i = 0; i < count(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    ControlTiming timing{.training_seconds = training.at(place)};
    if (to_threshold.at(place).is_number()) timing.seconds_to_threshold = to_threshold.at(place).get<double>();
    repetition(i).add_timing(timing);
  }
}

Json ControlRun::summarize(const Watch& watch) {
  std::vector<ControlTiming> timing;
  for (std::int64_t i = 0; i < count(); ++i) timing.push_back(repetition(i).timing());
  Json summary{{"env", facts_.environment}, {"env_version", spec_.version},
               {"agent", facts_.agent},     {"posterior", facts_.posterior},
               {"source", spec_.source},    {"threshold", runs::number(spec_.threshold)}};
  summary["preset"] = facts_.preset.empty() ? Json(nullptr) : Json(facts_.preset);
  summary.update(summarize_outcomes(outcomes(watch), timing));
  if (watch.stop_requested()) return summary;
  for (std::int64_t i = 0; i < count(); ++i) repetition(i).forget_conclusion();
  return summary;
}

void ControlRun::write_results(const RunDirectory& directory) {
  const ControlAgent& first = repetition(0).agent();
  write_file_atomically(directory.file("visits.json"), visited_states(environment_, first).dump() + "\n");
  if (const Scene* scene = find_scene(facts_.environment))
    write_file_atomically(directory.file("episode.svg"),
                          make_svg({spec_, *scene, play_for_film(environment_, first, -1, 0)}));
}

}  // namespace stein::agents
