// Whether the experiment of a preset is what the preset says.
#pragma once

#include <stein/training/published_preset.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace stein::test {

/// The experiment has the preset's name, its data, method and every setting.
template <class Experiment>
void check_experiment(const Experiment& experiment, const training::PublishedPreset& preset) {
  CHECK(experiment.preset() == preset.name);
  if (!preset.data.empty()) CHECK(experiment.name() == preset.data + "/" + preset.sampler);
  for (const auto& [key, value] : preset.settings) {
    CAPTURE(key);
    const std::string set = experiment.options().get(key);
    if (value.find_first_not_of("0123456789.e-") == std::string::npos)
      CHECK(std::stod(set) == std::stod(value));
    else
      CHECK(set == value);
  }
}

/// A setting of a preset as a number; an error if there is none.
inline double number_of(const training::PublishedPreset& preset, const std::string& key) {
  return std::stod(preset.settings.at(key));
}

/// The preset has these numbers.
inline void check_numbers(const training::PublishedPreset& preset, const std::map<std::string, double>& expected) {
  for (const auto& [key, number] : expected) {
    CAPTURE(key);
    CHECK(number_of(preset, key) == number);
  }
}

}  // namespace stein::test
