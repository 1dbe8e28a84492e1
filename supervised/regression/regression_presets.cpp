#include <stein/supervised/regression/regression_presets.h>

#include <map>
#include <string>

namespace stein::supervised {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

std::vector<PublishedPreset> make_regression_presets() {
  constexpr const char* source =
      "Zhang et al. 2018, table 1: one hidden layer of 50 (protein 100), 20 particles, precisions sampled; step and "
      "RMSprop as "
      "in the program of SVGD that it follows";
  struct PublishedTable {
    const char* data;
    const char* hidden;
    const char* batch_size;
  };
  constexpr PublishedTable tables[] = {{"boston", "50", "100"},    {"concrete", "50", "100"}, {"energy", "50", "100"},
                                       {"kin8nm", "50", "100"},    {"naval", "50", "100"},    {"power", "50", "100"},
                                       {"protein", "100", "1000"}, {"wine-red", "50", "100"}, {"yacht", "50", "100"}};
  std::vector<PublishedPreset> presets;
  for (const PublishedTable& table : tables) {
    const Settings all{{"hidden", table.hidden},          {"batch_size", table.batch_size},
                       {"learn_noise_precision", "true"}, {"learn_weight_precision", "true"},
                       {"validation_share", "0"},         {"particles", "20"},
                       {"optimizer", "rmsprop"},          {"step_size", "0.001"}};
    presets.push_back({std::string(table.data) + "-svgd", source, table.data, "svgd", all});
    presets.push_back({std::string(table.data) + "-s2vgd", source, table.data, "s2vgd",
                       joined(all, {{"learn_reflector_precision", "true"}, {"reflectors", "10"}})});
  }
  return presets;
}

}  // namespace

const std::vector<PublishedPreset>& regression_presets() {
  static const std::vector<PublishedPreset> all = make_regression_presets();
  return all;
}

}  // namespace stein::supervised
