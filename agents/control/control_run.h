// The repetitions of a control experiment as a run: what it says of itself, its result and its files.
#pragma once

#include <stein/agents/control/control_repetition.h>
#include <stein/runs/run.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stein::agents {

/// Agents with seeds first … end − 1.
class ControlRun final : public runs::RunOf<ControlRepetition> {
 public:
  /// What a run says of itself.
  struct Facts {
    std::string environment{}, agent{}, posterior{};           ///< registered names
    std::string preset{};                                      ///< that the settings began with; empty: none
    std::map<std::string, std::string> environment_options{};  ///< that tell this task from others of its name
    std::int64_t horizon = 0;                                  ///< steps after which an episode is truncated
    bool stein = false;                                        ///< particles climb towards prior × exp(J/α)
    std::int64_t steps = 0;                                    ///< length of a repetition; 0: not known
  };
  /// Makes the agent of a seed.
  using MakeAgent = std::function<std::unique_ptr<ControlAgent>(std::uint64_t seed)>;

  /// @param environment  of the evaluation episodes; must outlive the run
  ControlRun(runs::SeedRange seeds, const MakeAgent& make_agent, const envs::ControlEntry::Builder& environment,
             const ControlEvaluationOptions& evaluation, Facts facts);

  const envs::ControlSpec& spec() const { return spec_; }
  /// The repetition with this seed. Throws Error(usage) for a seed that the run does not have.
  const ControlRepetition& of_seed(std::uint64_t seed) const;
  /// The agent with this seed; −1: the first. Throws as `of_seed`.
  const ControlAgent& agent_of(std::int64_t seed) const;
  /// Throws Error(usage) for a particle that the run's agents do not have; −1 is none in particular.
  void check_particle(std::int64_t particle) const;
  /// Plays the final evaluation episodes of every repetition; what a stop cuts short means nothing.
  std::vector<ControlOutcome> outcomes(const Watch& watch) const;

  std::string source() const override;
  /// Where a repetition has very few iterations, how many.
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  /// Throws Error(data) if the run of `manifest` was played in another version of the task.
  void check_manifest(const nlohmann::ordered_json& manifest) const override;
  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// visits.json, and episode.svg where there is a picture of the task.
  void write_results(const RunDirectory& directory) override;

 private:
  const envs::ControlEntry::Builder& environment_;
  envs::ControlSpec spec_;
  Facts facts_;
};

}  // namespace stein::agents
