#include <stein/lm/captioning/caption_presets.h>

#include <map>
#include <string>
#include <utility>

namespace stein::lm {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

/// RMSprop and pSGLD, without and with dropout.
void add_four(std::vector<PublishedPreset>& presets, const std::string& name, const std::string& data,
              const std::string& source, const Settings& all, const Settings& chain, const char* dropout) {
  for (const char* sampler : {"rmsprop", "psgld"})
    for (const bool drops : {false, true}) {
      Settings settings = std::string(sampler) == "psgld" ? joined(all, chain) : all;
      if (drops) settings["dropout"] = dropout;
      presets.push_back({name + "-" + sampler + (drops ? "-dropout" : ""), source, data, sampler, settings});
    }
}

void add_gan(std::vector<PublishedPreset>& presets) {
  const Settings all{{"batch_size", "64"},     {"epochs", "20"},     {"layers", "1"},
                     {"hidden", "512"},        {"embedding", "300"}, {"min_count", "5"},
                     {"step_size", "0.001"},   {"clip_norm", "5"},   {"rate_unit", "sequence"},
                     {"start", "orthogonal"},  {"forget_bias", "3"}, {"start_range", "0.01"},
                     {"square_decay", "0.99"}, {"beam_width", "5"},  {"feature_use", "first_input"}};
  const auto chain = [](const char* temperature, const char* samples) {
    return Settings{{"step_size", "0.002"},  // their program goes as far as RMSprop, which is h/2
                    {"temperature", temperature},
                    {"burn_in", "0.15"},
                    {"samples_per_epoch", samples}};
  };
  const std::string source = "Gan et al. 2017, section 5.2 and supplement D: 1 layer of 512, 20 epochs";
  add_four(presets, "flickr8k", "flickr8k", source, all, chain("6.7e-05", "1"), "0.5");  // 2/30,000
  add_four(presets, "flickr30k", "", source + "; your dataset_flickr30k.json and features", all, chain("1.4e-05", "2"),
           "0.5");  // 2/145,000
  add_four(presets, "coco", "",
           "the settings of Gan et al. 2017 for Flickr30k on COCO; your dataset_coco.json and features", all,
           chain("3.5e-06", "2"), "0.5");  // 2/567,000
}

/// Vinyals et al. 2016 have a rate of 2 and a limit of 5 for a mean per token; a caption of COCO has about 11.5 tokens.
/// Their rate halves every 8 epochs, here a little every epoch.
void add_fortunato(std::vector<PublishedPreset>& presets) {
  presets.push_back({"coco-bbb",
                     "Fortunato et al. 2017, section 6.2: the LSTM of Vinyals et al. 2016 by Bayes by Backprop; your "
                     "dataset_coco.json and features",
                     "",
                     "bbb",
                     {{"batch_size", "32"},
                      {"epochs", "50"},
                      {"layers", "1"},
                      {"hidden", "512"},
                      {"min_count", "4"},
                      {"feature_use", "initial_state"},
                      {"optimizer", "sgd"},
                      {"momentum", "0"},
                      {"rate_unit", "sequence"},
                      {"step_size", "0.174"},
                      {"clip_norm", "57.5"},
                      {"rate_decay", "0.917"},
                      {"start", "fan_in"},
                      {"forget_bias", "0"},
                      {"beam_width", "3"},
                      {"max_length", "20"}}});
}

void add_scenes(std::vector<PublishedPreset>& presets) {
  const std::string source = "the methods of Gan et al. 2017 with settings of our own for small images";
  const Settings all{{"batch_size", "64"}, {"epochs", "40"},       {"hidden", "128"},         {"layers", "1"},
                     {"clip_norm", "5"},   {"step_size", "0.002"}, {"rate_unit", "sequence"}, {"square_decay", "0.99"}};
  add_four(presets, "scenes", "scenes", source, all,
           {{"step_size", "0.004"}, {"temperature", "0.0002"}, {"burn_in", "0.5"}, {"samples_per_epoch", "1"}},
           "0.2");  // 2/N of 10,000 captions
  // Wider draws at the start hide the images for many epochs: the data are few.
  presets.push_back({"scenes-bbb",
                     "Bayes by Backprop with settings of our own for small images",
                     "scenes",
                     "bbb",
                     {{"batch_size", "64"},
                      {"epochs", "200"},
                      {"hidden", "64"},
                      {"layers", "1"},
                      {"step_size", "0.005"},
                      {"initial_deviation_low", "0.01"},
                      {"initial_deviation_high", "0.02"},
                      {"outer_deviation", "1"}}});
}

}  // namespace

const std::vector<PublishedPreset>& caption_presets() {
  static const std::vector<PublishedPreset> all = [] {
    std::vector<PublishedPreset> presets;
    add_gan(presets);
    add_fortunato(presets);
    add_scenes(presets);
    return presets;
  }();
  return all;
}

}  // namespace stein::lm
