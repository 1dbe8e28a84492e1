#include <stein/agents/control/pictures/visits.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include <stein/agents/control/pictures/recorded_episode.h>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_particles = 16, episodes_each = 4;
/// Of one particle, and of all; pictures cannot show more.
constexpr std::size_t most_points = 600, most_in_all = 4800;

/// Which two quantities of the state are shown.
std::vector<std::size_t> shown_quantities(const envs::ControlSpec& spec) {
  std::vector<std::size_t> shown;
  for (std::size_t k = 0; k < spec.state.size(); ++k)
    if (spec.state[k].name.find("velocity") == std::string::npos) shown.push_back(k);
  for (std::size_t k = 0; k < spec.state.size() && shown.size() < 2; ++k)
    if (std::ranges::find(shown, k) == shown.end()) shown.push_back(k);
  shown.resize(std::min<std::size_t>(shown.size(), 2));
  return shown;
}

/// As a picture shows it: angles as directions, four digits.
double shown_value(const envs::Quantity& quantity, double value) {
  constexpr double pi = std::numbers::pi;
  if (quantity.unit == "rad") value -= 2 * pi * std::floor((value + pi) / (2 * pi));
  return std::round(value * 1e4) / 1e4;
}

}  // namespace

Json visited_states(const envs::ControlEntry::Builder& environment, const ControlAgent& agent) {
  const envs::ControlSpec spec = environment.spec();
  const std::vector<std::size_t> shown = shown_quantities(spec);
  const std::int64_t count = agent.policy().particle_count(), pictures = std::min(count, most_particles);
  std::vector<std::int64_t> particles;
  for (std::int64_t k = 0; k < pictures; ++k)
    particles.insert(particles.end(), episodes_each, k * count / pictures);  // spread evenly over all
  const std::vector<RecordedEpisode> episodes =
      record_episodes(agent.policy(), environment, particles, {.deterministic = false});

  Json result{{"env", spec.name}, {"seed", agent.seed()}, {"of", count}};
  const char* const axes[] = {"x", "y"};
  for (std::size_t k = 0; k < shown.size(); ++k)
    result[axes[k]] = {{"name", spec.state[shown[k]].name}, {"unit", spec.state[shown[k]].unit}};
  result["particles"] = Json::array();
  const std::size_t points = std::min(most_points, most_in_all / static_cast<std::size_t>(pictures));
  for (std::int64_t k = 0; k < pictures; ++k) {
    const std::span own(episodes.data() + k * episodes_each, static_cast<std::size_t>(episodes_each));
    std::size_t states = 0, place = 0;
    double sum = 0;
    for (const RecordedEpisode& episode : own) states += episode.states.size(), sum += episode.result.total_reward;
    const std::size_t stride = (states + points - 1) / points;
    Json picture{{"particle", own.front().result.particle}, {"return", sum / static_cast<double>(episodes_each)}};
    for (const RecordedEpisode& episode : own)
      for (const std::vector<double>& state : episode.states)
        if (place++ % stride == 0)
          for (std::size_t axis = 0; axis < shown.size(); ++axis)
            picture[axes[axis]].push_back(shown_value(spec.state[shown[axis]], state[shown[axis]]));
    result["particles"].push_back(picture);
  }
  return result;
}

}  // namespace stein::agents
