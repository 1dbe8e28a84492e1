// Control agents for benchmarks: from names, in either arithmetic.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/core/options.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stein::bench {

/// Which agent a benchmark is about.
struct ControlCase {
  std::string environment = "CartPole-v1";
  agents::Learner learner = agents::Learner::a2c;
  agents::PolicyPosterior posterior = agents::PolicyPosterior::none;
  std::vector<std::pair<std::string, std::string>>
      settings{};  ///< over agents::earlier_options, on which the records rest
};

/// The environment of a case.
inline std::unique_ptr<envs::ControlEntry::Builder> make_environment(const ControlCase& which) {
  return envs::controls().at(which.environment).builder();
}

/// The options of a case; the reference computes policies and values with LibTorch, everything else is the same.
inline agents::ControlAgentOptions options_of(const ControlCase& which, bool discrete,
                                              inference::Arithmetic arithmetic) {
  agents::ControlAgentOptions options = agents::earlier_options(which.learner, which.posterior, discrete);
  OptionTable table = OptionTable::of(options);
  for (const auto& [name, value] : which.settings) table.set(name, value);
  options.policy.posterior.arithmetic = arithmetic;
  return options;
}

}  // namespace stein::bench
