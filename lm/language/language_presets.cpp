#include <stein/lm/language/language_presets.h>

#include <map>
#include <string>
#include <utility>

namespace stein::lm {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

/// Tokens of an epoch: N of the training parts.
constexpr const char* temperature_ptb = "1.08e-06";           // 1/929,589, rounded
constexpr const char* temperature_war_and_peace = "7.7e-07";  // 2/2,600,000

void add_ptb(std::vector<PublishedPreset>& presets) {
  constexpr const char* source = "Gan et al. 2017, section 5.1 and supplement D: 2 layers, zero state, 40 epochs";
  const Settings all{{"batch_size", "32"},       {"unroll", "20"},     {"state", "zero"},
                     {"protocol", "zero-state"}, {"epochs", "40"},     {"layers", "2"},
                     {"rate_unit", "sequence"},  {"step_size", "1"},   {"clip_norm", "5"},
                     {"start", "orthogonal"},    {"forget_bias", "3"}, {"start_range", "0.01"}};
  const Settings chain{{"temperature", temperature_ptb}, {"burn_in", "0.1"}, {"samples_per_epoch", "2"}};
  const std::vector<std::pair<std::string, Settings>> sizes{
      {"small", {{"hidden", "200"}, {"rate_decay", "0.5"}, {"full_rate_epochs", "4"}}},
      {"medium", {{"hidden", "650"}, {"rate_decay", "0.8333333333"}, {"full_rate_epochs", "6"}}},
      {"large", {{"hidden", "1500"}, {"rate_decay", "0.8695652174"}, {"full_rate_epochs", "15"}}}};
  for (const auto& [size, own] : sizes)
    for (const bool dropout : {false, true})
      for (const char* sampler : {"sgd", "sgld"}) {
        Settings settings = joined(all, own);
        if (dropout) settings["dropout"] = "0.5";
        if (std::string(sampler) == "sgld") settings = joined(settings, chain);
        presets.push_back(
            {"ptb-" + size + "-" + sampler + (dropout ? "-dropout" : ""), source, "ptb", sampler, settings});
      }
  const Settings released{{"batch_size", "20"},  {"unroll", "35"},           {"epochs", "70"},
                          {"layers", "2"},       {"rate_unit", "sequence"},  {"optimizer", "sgd"},
                          {"momentum", "0"},     {"step_size", "1"},         {"clip_norm", "5"},
                          {"rate_decay", "0.9"}, {"full_rate_epochs", "20"}, {"start", "fan_in"},
                          {"forget_bias", "0"},  {"protocol", "stateful"}};
  constexpr const char* medium = "Fortunato et al. 2017 and their released program: 2 layers of 650, 70 epochs";
  constexpr const char* small = "the settings of Fortunato et al. 2017 on 2 layers of 200";
  for (const char* sampler : {"bbb", "sharpening"}) {
    Settings settings = released;
    if (std::string(sampler) == "sharpening") settings["rate_scale"] = "0.01";
    settings["hidden"] = "650";
    presets.push_back({std::string("ptb-medium-") + sampler, medium, "ptb", sampler, settings});
    settings["hidden"] = "200";
    presets.push_back({std::string("ptb-small-") + sampler, small, "ptb", sampler, settings});
  }
}

void add_war_and_peace(std::vector<PublishedPreset>& presets) {
  constexpr const char* source = "Gan et al. 2017, section 5.1 and supplement D: 2 layers of 128, 20 epochs";
  const Settings all{{"batch_size", "100"},    {"unroll", "100"},       {"epochs", "20"},          {"layers", "2"},
                     {"hidden", "128"},        {"step_size", "0.002"},  {"rate_unit", "sequence"}, {"clip_norm", "5"},
                     {"protocol", "stateful"}, {"square_decay", "0.99"}};
  const Settings chain{{"temperature", temperature_war_and_peace}, {"burn_in", "0.2"}, {"samples_per_epoch", "2"}};
  for (const char* cell : {"lstm", "gru", "tanh"})
    for (const char* sampler : {"rmsprop", "psgld"}) {
      Settings settings = joined(all, {{"cell", cell}});
      if (std::string(sampler) == "psgld") settings = joined(settings, chain);
      presets.push_back(
          {std::string("war-and-peace-") + cell + "-" + sampler, source, "war-and-peace", sampler, settings});
    }
}

}  // namespace

const std::vector<PublishedPreset>& language_presets() {
  static const std::vector<PublishedPreset> all = [] {
    std::vector<PublishedPreset> presets;
    add_ptb(presets);
    add_war_and_peace(presets);
    return presets;
  }();
  return all;
}

}  // namespace stein::lm
