// A run of `stein lm train` on a text of four letters, as it lies on disk, and what is done with it.
#pragma once

#include <stein/core/rng.h>
#include <stein/lm/language/language_experiment.h>
#include <stein/runs/run_action.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/saved_run.h>
#include <stein/runs/start_run.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "training/method_with.h"

namespace stein::test {

/// Letters from a to d: mostly the one that follows in the circle of the four, else any of them.
inline std::string letters(std::size_t count) {
  Draws draws({.seed = 11}, 0);
  std::string text = "abcd";
  std::uint32_t letter = 3;
  while (text.size() < count) {
    letter = draws.uniform() < 0.7 ? (letter + 1) % 4 : draws.integer(4);
    text += "abcd"[letter];
  }
  return text;
}

/// A small network that was trained for a moment, with Adam unless `settings` say otherwise.
class LettersRun {
 public:
  explicit LettersRun(const Settings& settings = {})
      : directory_(train(folder_, settings)), saved_(runs::read_saved_run(directory_)) {}

  const lm::LanguageExperiment& experiment() const {
    return dynamic_cast<const lm::LanguageExperiment&>(*saved_.experiment);
  }
  std::filesystem::path folder() const { return folder_ / "run"; }
  training::TrainedNetwork network() const { return experiment().trained_network(saved_, 0, ""); }
  /// What an action with these options makes of the run.
  template <class Action>
  nlohmann::ordered_json perform(const Settings& options) const {
    Action action;
    OptionTable table;
    action.describe(table);
    for (const auto& [key, value] : options) table.set(key, value);
    return action.perform(directory_, "", {});
  }

  static constexpr std::int64_t unroll = 7;

 private:
  static RunDirectory train(const TemporaryDirectory& folder, const Settings& more) {
    Settings settings{{"data", write(folder / "letters.txt", letters(600)).string()},
                      {"validation_share", "0.2"},
                      {"test_share", "0.1"},
                      {"sampler", "adam"},
                      {"step_size", "0.02"},
                      {"hidden", "6"},
                      {"layers", "1"},
                      {"start", "fan_in"},
                      {"batch_size", "4"},
                      {"unroll", std::to_string(unroll)},
                      {"epochs", "3"},
                      {"report_tokens", "0"}};
    for (const auto& [key, value] : more) settings[key] = value;
    const lm::LanguageExperiment experiment(runs::run_kinds().at("language"),
                                            {.settings = {settings.begin(), settings.end()}});
    runs::start_run(experiment, folder / "run", Existing::refuse, {.quiet = true});
    return RunDirectory::open(folder / "run");
  }

  TemporaryDirectory folder_;
  RunDirectory directory_;
  runs::SavedRun saved_;
};

}  // namespace stein::test
