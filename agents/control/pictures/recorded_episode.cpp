#include <stein/agents/control/pictures/recorded_episode.h>

namespace stein::agents {

std::vector<RecordedEpisode> record_episodes(const policies::ControlPolicy& policy,
                                             const envs::ControlEntry::Builder& environment,
                                             const std::vector<std::int64_t>& particles, EvaluationOptions options) {
  std::vector<RecordedEpisode> episodes(particles.size());
  options.watch = [&](std::int64_t episode, const envs::VectorEnvironment& watched, std::int64_t slot) {
    episodes[static_cast<std::size_t>(episode)].states.push_back(watched.state(slot));
  };
  const std::vector<FinishedEpisode> results = play_episodes(policy, environment, particles, options);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    episodes[i].result = results[i];
    episodes[i].states.resize(static_cast<std::size_t>(results[i].length));  // after the end the next one begins
  }
  return episodes;
}

}  // namespace stein::agents
