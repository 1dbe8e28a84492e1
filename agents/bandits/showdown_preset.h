// The protocol of the Deep Bayesian Bandits Showdown as a preset of bandit experiments.
#pragma once

#include <stein/core/options.h>

#include <string>

namespace stein::agents {

/// What the preset `showdown` sets of each part of a bandit experiment: the settings of Riquelme, Tucker & Snoek 2018
/// (arXiv 1802.09127) as their published code has them (tensorflow/models, research/deep_contextual_bandits,
/// example_main.py), as far as Stein has an option for them; docs/bandits.md lists what differs. Settings are empty
/// where the protocol says nothing.

/// How often policies learn, and from what. Policies that do not learn have no forced pulls there either.
Preset showdown_learning(bool learns);
/// The rewards of a bandit of that name and its number of interactions, `steps`.
Preset showdown_bandit(const std::string& environment);
/// The network, posterior and optimizer of a policy of that name. Policies with a network that the Showdown does not
/// have get the width of its networks alone. Throws Error(usage) for a name that no policy has.
Preset showdown_policy(const std::string& policy);

}  // namespace stein::agents
