// Evaluation episodes with the states that they went through: what pictures are made of.
#pragma once

#include <stein/agents/control/evaluation.h>

#include <cstdint>
#include <vector>

namespace stein::agents {

/// An episode and where it went.
struct RecordedEpisode {
  FinishedEpisode result;
  std::vector<std::vector<double>> states;  ///< before every step, as `ControlSpec::state` lists it
};

/// One episode for every entry of `particles`, as `play_episodes` plays them.
std::vector<RecordedEpisode> record_episodes(const policies::ControlPolicy& policy,
                                             const envs::ControlEntry::Builder& environment,
                                             const std::vector<std::int64_t>& particles, EvaluationOptions options);

}  // namespace stein::agents
