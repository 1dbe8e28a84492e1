// An episode as frames: where the joints of a task are, at a pace that the eye follows.
#pragma once

#include <stein/envs/control_spec.h>

#include <string>
#include <vector>

#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/pictures/recorded_episode.h>
#include <stein/agents/control/pictures/scene.h>

namespace stein::agents {

/// The frames of an episode that are shown: about 25 a second, of its first 20 seconds.
struct Film {
  Film(const envs::ControlSpec& spec, const Scene& scene, const RecordedEpisode& episode);

  std::string title;  ///< task, particle, return
  std::vector<std::vector<Point>> frames;
  double frame_seconds = 0;
  bool on_cart = false;
  double left = 0, right = 0;  ///< of the base [m]
  double reach = 0;            ///< of the links around it [m]
  double lowest = 0;           ///< place of any joint [m]
};

/// One episode of a policy of `agent`, the most likely action at every step. @param particle  −1: one that is drawn
RecordedEpisode play_for_film(const envs::ControlEntry::Builder& environment, const ControlAgent& agent,
                              std::int64_t particle, std::uint64_t episode_seed);

/// An SVG that plays the film over and over at its own pace (SMIL), light and dark.
std::string make_svg(const Film& film);

}  // namespace stein::agents
