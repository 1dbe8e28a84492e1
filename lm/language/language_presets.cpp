#include <stein/lm/language/language_presets.h>

#include <map>
#include <string>
#include <utility>

namespace stein::lm {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

constexpr const char* temperature_war_and_peace = "7.7e-07";  // 2/N of 2,600,000 tokens

void add_ptb(std::vector<PublishedPreset>& presets) {
  constexpr const char* source =
      "Gan et al. 2017, section 5.1 and supplement D: 2 layers, zero state, 40 epochs; clipping as their program has "
      "it";
  const Settings all{{"batch_size", "32"},       {"unroll", "20"},        {"state", "zero"},
                     {"protocol", "zero-state"}, {"epochs", "40"},        {"layers", "2"},
                     {"rate_unit", "datum"},     {"step_size", "1"},      {"clip_norm", "5"},
                     {"clip_rule", "rescale"},   {"start", "orthogonal"}, {"forget_bias", "3"},
                     {"start_range", "0.01"}};
  const Settings chain{{"temperature", "1"}, {"burn_in", "0.1"}, {"samples_per_epoch", "2"}};
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
  const std::vector<std::pair<const char*, std::string>> widths{{"small", "200"}, {"medium", "650"}, {"large", "1500"}};
  for (const char* sampler : {"bbb", "sharpening"})
    for (const auto& [size, hidden] : widths) {
      Settings settings = joined(released, {{"hidden", hidden}});
      const bool sharpened = std::string(sampler) == "sharpening";
      if (sharpened) settings["rate_scale"] = "0.01";
      const std::string from =
          hidden == "650" ? std::string("Fortunato et al. 2017") +
                                (sharpened ? "; its rate_scale is not published" : " and their released program") +
                                ": 2 layers of 650, 70 epochs"
                          : "the settings of Fortunato et al. 2017 on 2 layers of " + hidden;
      presets.push_back({std::string("ptb-") + size + "-" + sampler, from, "ptb", sampler, settings});
    }
}

/// The networks that Fortunato et al. 2017 compare theirs with: without dropout, and with it.
void add_zaremba(std::vector<PublishedPreset>& presets) {
  constexpr const char* source = "Zaremba et al. 2014, section 4.1: 2 layers, state carried";
  const Settings all{{"batch_size", "20"}, {"layers", "2"},      {"rate_unit", "sequence"}, {"step_size", "1"},
                     {"start", "uniform"}, {"forget_bias", "0"}, {"protocol", "stateful-1"}};
  const std::vector<std::pair<const char*, Settings>> sizes{{"small",
                                                             {{"hidden", "200"},
                                                              {"unroll", "20"},
                                                              {"start_range", "0.1"},
                                                              {"epochs", "13"},
                                                              {"full_rate_epochs", "4"},
                                                              {"rate_decay", "0.5"},
                                                              {"clip_norm", "5"}}},
                                                            {"medium",
                                                             {{"hidden", "650"},
                                                              {"unroll", "35"},
                                                              {"start_range", "0.05"},
                                                              {"dropout", "0.5"},
                                                              {"epochs", "39"},
                                                              {"full_rate_epochs", "6"},
                                                              {"rate_decay", "0.8333333333"},
                                                              {"clip_norm", "5"}}},
                                                            {"large",
                                                             {{"hidden", "1500"},
                                                              {"unroll", "35"},
                                                              {"start_range", "0.04"},
                                                              {"dropout", "0.65"},
                                                              {"epochs", "55"},
                                                              {"full_rate_epochs", "14"},
                                                              {"rate_decay", "0.8695652174"},
                                                              {"clip_norm", "10"}}}};
  for (const auto& [size, own] : sizes)
    presets.push_back({std::string("ptb-") + size + "-zaremba", source, "ptb", "sgd", joined(all, own)});
}

void add_war_and_peace(std::vector<PublishedPreset>& presets) {
  constexpr const char* source = "Gan et al. 2017, section 5.1 and supplement D: 2 layers of 128, 20 epochs";
  const Settings all{{"batch_size", "100"},    {"unroll", "100"},       {"epochs", "20"},          {"layers", "2"},
                     {"hidden", "128"},        {"step_size", "0.002"},  {"rate_unit", "sequence"}, {"clip_norm", "5"},
                     {"protocol", "stateful"}, {"square_decay", "0.99"}};
  const Settings chain{{"step_size", "0.004"},  // their program goes as far as RMSprop, which is h/2
                       {"temperature", temperature_war_and_peace},
                       {"burn_in", "0.2"},
                       {"samples_per_epoch", "2"}};
  for (const char* cell : {"lstm", "gru", "tanh"})
    for (const char* sampler : {"rmsprop", "psgld"}) {
      Settings settings = joined(all, {{"cell", cell}});
      if (std::string(sampler) == "psgld") settings = joined(settings, chain);
      presets.push_back(
          {std::string("war-and-peace-") + cell + "-" + sampler, source, "war-and-peace", sampler, settings});
    }
}

/// Not published: what a text of one's own wants, which is too short for a posterior of so many weights at
/// temperature 1.
void add_small_text(std::vector<PublishedPreset>& presets) {
  presets.push_back({"small-text",
                     "chosen here for texts of 100 kB to a few MB: many short steps at a low temperature, averaged",
                     "",
                     "psgld",
                     {{"step_size", "0.02"}, {"batch_size", "5"}, {"epochs", "20"}, {"temperature", "1e-4"}}});
}

}  // namespace

const std::vector<PublishedPreset>& language_presets() {
  static const std::vector<PublishedPreset> all = [] {
    std::vector<PublishedPreset> presets;
    add_ptb(presets);
    add_zaremba(presets);
    add_war_and_peace(presets);
    add_small_text(presets);
    return presets;
  }();
  return all;
}

}  // namespace stein::lm
