#include <stein/agents/control/control_rendering.h>
#include <stein/agents/control/pictures/film.h>
#include <stein/agents/control/pictures/terminal_film.h>
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>

#include <filesystem>

namespace stein::agents {

using Json = nlohmann::ordered_json;

void ControlRendering::describe(OptionTable& table) {
  table("out", out_, "the picture, an animated SVG; empty: episode.svg in the run directory");
  table("episode_seed", episode_seed_, "where the episode begins", between(0, 9e15));
  table("seed", seed_, "whose policy: a seed of the run; -1: its first", between(-1, 9e15));
  table("particle", particle_, "which of its particles; -1: one that is drawn", between(-1, 1e9));
  table("terminal", terminal_, "play it in the terminal instead");
}

void ControlRendering::check_experiment(const ControlExperiment& experiment) const {
  static_cast<void>(scene_of(experiment.environment()));
}

Json ControlRendering::perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory& directory,
                                  const runs::Console& console) {
  const std::filesystem::path out = out_.empty() ? directory.file("episode.svg") : std::filesystem::path(out_);
  STEIN_CHECK(out.extension() == ".svg",
              "--out {}: expected the name of an animated SVG, ending in .svg; other programs make frames of one",
              out_);
  const ControlAgent& agent = run.agent_of(seed_);
  run.check_particle(particle_);
  const Scene& scene = scene_of(experiment.environment());
  const RecordedEpisode episode =
      play_for_film(experiment.environment_builder(), agent, particle_, static_cast<std::uint64_t>(episode_seed_));
  const Film film(run.spec(), scene, episode);
  Json result{{"seed", agent.seed()},
              {"particle", episode.result.particle},
              {"return", episode.result.total_reward},
              {"episode_length", episode.result.length}};
  if (terminal_) {
    show_in_terminal(film, console.out);
    return result;
  }
  write_file_atomically(out, make_svg(film));
  result["picture"] = out.string();
  return result;
}

std::string ControlRendering::readable(const Json& result) const {
  return result.contains("picture") ? result["picture"].get<std::string>() + "\n" : "";
}

}  // namespace stein::agents
