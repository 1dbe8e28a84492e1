// stein render: an episode of a trained policy as a moving picture.
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "command.h"
#include "film.h"
#include "terminal_film.h"
#include "trained_run.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string directory, out;
  std::uint64_t episode_seed = 0;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> particle;
  bool terminal = false;
};

int render(const Arguments& arguments) {
  const std::filesystem::path extension = std::filesystem::path(arguments.out).extension();
  STEIN_CHECK(arguments.out.empty() || extension == ".svg",
              "--out {}: expected the name of an animated SVG, ending in .svg; other programs make frames of one",
              arguments.out);
  const RunDirectory directory = RunDirectory::open(arguments.directory);
  const TrainedRun trained = load_trained_run(directory);
  const agents::ControlAgent& agent = trained.agent(arguments.seed.value_or(trained.experiment->seeds().first));
  const std::int64_t particles = agent.policy().particle_count();
  STEIN_CHECK(!arguments.particle || *arguments.particle < particles, "--particle {}: the run has particles 0 to {}",
              *arguments.particle, particles - 1);
  const Scene& scene = scene_of(trained.experiment->environment());
  const RecordedEpisode episode =
      play_for_film(*trained.experiment, agent, arguments.particle.value_or(-1), arguments.episode_seed);
  const Film film(trained.run->spec(), scene, episode);
  if (arguments.terminal) {
    show_in_terminal(film, stdout);
    return 0;
  }
  const std::filesystem::path out = arguments.out.empty() ? directory.episode() : std::filesystem::path(arguments.out);
  write_file_atomically(out, make_svg(film));
  std::fputs(fmt::format("{}\n", out.string()).c_str(), stdout);
  return 0;
}

}  // namespace

Action render_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->directory, "Run directory")->required();
  command.add_option("--out", arguments->out,
                     "The picture, an animated SVG (default: episode.svg in the run directory)");
  from_zero(
      command.add_option("--episode-seed", arguments->episode_seed, "Where the episode begins")->capture_default_str());
  from_zero(command.add_option("--seed", arguments->seed, "Whose policy: a seed of the run (default: its first)"));
  from_zero(
      command.add_option("--particle", arguments->particle, "Which of its particles (default: one that is drawn)"));
  command.add_flag("--terminal", arguments->terminal, "Play it in the terminal instead");
  return [arguments] { return render(*arguments); };
}

}  // namespace stein::cli
