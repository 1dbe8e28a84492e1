// A replay as a person describes it: a log, policies, what is estimated, seeds, and the options of all of these.
#pragma once

#include <stein/policies/bandit_learner.h>
#include <stein/policies/bandit_policy.h>
#include <stein/replay/log_format.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/policy_comparison.h>
#include <stein/replay/policy_replay.h>
#include <stein/runs/experiment.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::replay {

/// What `stein replay` starts. The options of a policy have its name before them ("svgd.particles"); without it they
/// mean every policy that has them.
class ReplayExperiment final : public runs::Experiment {
 public:
  /// Throws Error(usage) for unknown names, a policy named twice, unknown keys and values out of range.
  ReplayExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// "r6a/s2vgd+linucb".
  std::string name() const override;
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  /// One of its policies with what it learns by, as it begins. Throws Error(usage) where it has none of that name that
  /// chooses arms.
  /// @param device  where its networks are, if it has some that can be there; else they are on the host
  std::unique_ptr<policies::BanditLearner> make_learner(const std::string& policy, const envs::BanditSpec& spec,
                                                        std::uint64_t seed, inference::Device device = {}) const;
  const std::vector<std::string>& policies() const { return policy_; }
  const std::string& format() const { return format_; }
  std::unique_ptr<LogFormat> make_format() const { return format_builder_->make(); }

  /// The policy that made the log, which is none of the registered ones.
  static constexpr const char* logged = "logged";

 private:
  /// A policy that is named.
  struct Named {
    std::string name;
    std::unique_ptr<policies::PolicyEntry::Builder> builder;  ///< null: that of the log
  };
  /// Which arms there may be.
  struct Arms {
    std::int64_t room;                 ///< how many
    std::vector<std::string> names{};  ///< those of the log, where it was read to count them
  };
  std::unique_ptr<LogReader> make_reader(const Arms& arms) const;
  /// As many as `arms` says, or as the format knows of, or as the log turns out to have and new ones where features say
  /// what they are like. Throws Error(data) for a log without events.
  Arms count_arms() const;
  std::unique_ptr<JudgedPolicy> make_policy(const Named& named, const envs::BanditSpec& spec, std::uint64_t seed,
                                            inference::Device device) const;
  /// Throws Error(usage) naming a policy where there is a device and none of them can be there.
  void check_device() const;

  std::vector<std::string> log_, policy_{"s2vgd", "linucb", "uniform"};
  std::string format_ = "r6a", device_ = "cpu";
  bool strict_ = false;
  std::int64_t arms_ = 0, window_ = 0;
  ComparisonOptions comparison_;
  policies::BanditLearner::Options learning_;
  DeliveryOptions delivery_;
  std::unique_ptr<LogFormatEntry::Builder> format_builder_;
  std::vector<Named> policies_;
};

/// The parts that replays can be put together from.
std::vector<runs::Part> replay_parts();

}  // namespace stein::replay
