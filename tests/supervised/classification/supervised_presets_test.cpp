// Published settings of regressions and of classifiers of tables and images.
#include <stein/runs/run_kind.h>
#include <stein/supervised/classification/image_class_presets.h>
#include <stein/supervised/classification/image_classes.h>
#include <stein/supervised/classification/table_class_presets.h>
#include <stein/supervised/classification/table_classes.h>
#include <stein/supervised/regression/regression_experiment.h>
#include <stein/supervised/regression/regression_presets.h>

#include <catch2/catch.hpp>
#include <set>

#include "training/preset_checks.h"

namespace stein::supervised {
namespace {

/// Every preset has a name and a source of its own, and is what it says.
template <class Experiment>
void check_presets(const std::string& kind, const std::vector<training::PublishedPreset>& presets) {
  std::set<std::string> names;
  for (const training::PublishedPreset& preset : presets) {
    CAPTURE(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK_FALSE(preset.source.empty());
    test::check_experiment(Experiment(runs::run_kinds().at(kind), {.preset = preset.name}), preset);
  }
}

TEST_CASE("the experiment of a preset has its data, its method and its settings", "[supervised][presets]") {
  check_presets<RegressionExperiment>("regression", regression_presets());
  check_presets<TableClassExperiment>("table-classes", table_class_presets());
  check_presets<ImageClassExperiment>("image-classes", image_class_presets());
}

TEST_CASE("chains with a spike and slab are those without, but for its prior", "[supervised][presets]") {
  const auto preset = [](const std::string& name) {
    for (const training::PublishedPreset& each : image_class_presets())
      if (each.name == name) return each;
    FAIL("no preset " << name);
    return training::PublishedPreset{};
  };
  for (const std::string data : {"mnist", "da-mnist"}) {
    const training::PublishedPreset plain = preset(data + "-cnn-sghmc"), sa = preset(data + "-cnn-sghmc-sa"),
                                    em = preset(data + "-cnn-sghmc-em");
    for (const auto& [key, value] : plain.settings) CHECK(sa.settings.at(key) == value);
    test::check_numbers(
        sa, {{"laplace_scale", 1}, {"gaussian_scale", 0.1}, {"rate_exponent", 0.75}, {"temperature", 1e-3}});
    CHECK(em.settings.at("adaptation") == "em");
    CHECK(em.settings.size() == sa.settings.size() + 1);
  }
}

}  // namespace
}  // namespace stein::supervised
