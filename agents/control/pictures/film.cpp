#include <stein/agents/control/pictures/film.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stein::agents {

Film::Film(const envs::ControlSpec& spec, const Scene& scene, const RecordedEpisode& episode)
    : title(fmt::format("{}, particle {}: return {:.1f} in {} steps", spec.name, episode.result.particle,
                        episode.result.total_reward, episode.result.length)),
      on_cart(scene.cart >= 0),
      left(-scene.rail),
      right(scene.rail),
      reach(scene.reach()) {
  constexpr double frames_per_second = 25, longest_seconds = 20;
  const auto stride = static_cast<std::size_t>(std::max(1.0, std::round(1 / (frames_per_second * spec.step_seconds))));
  frame_seconds = static_cast<double>(stride) * spec.step_seconds;
  for (std::size_t t = 0; t < episode.states.size(); t += stride) {
    if (static_cast<double>(frames.size()) * frame_seconds > longest_seconds) break;
    frames.push_back(joints(scene, episode.states[t]));
    left = std::min(left, frames.back().front().x);
    right = std::max(right, frames.back().front().x);
    for (const Point& joint : frames.back()) lowest = std::min(lowest, joint.y);
  }
}

RecordedEpisode play_for_film(const envs::ControlEntry::Builder& environment, const ControlAgent& agent,
                              std::int64_t particle, std::uint64_t episode_seed) {
  const std::vector<std::int64_t> particles = particle >= 0
                                                  ? std::vector<std::int64_t>{particle}
                                                  : draw_particles(1, agent.policy().particle_count(), episode_seed);
  return record_episodes(agent.policy(), environment, particles, {.seed = episode_seed}).front();
}

}  // namespace stein::agents
