#include <stein/lm/classification/sentence_presets.h>

#include <map>
#include <string>

namespace stein::lm {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

/// A set and the temperature of its published program: 2/N for the N sentences that are trained on.
struct PublishedSet {
  const char* data;
  const char* temperature;
};

std::vector<PublishedPreset> make_presets() {
  constexpr const char* source =
      "Gan et al. 2017, table 5 and supplement: bi-LSTM of 2 x 200, 20 epochs (word vectors: give a file)";
  constexpr PublishedSet sets[] = {
      {"trec", "4.1e-4"}, {"mr", "2.3e-4"}, {"subj", "2.5e-4"}, {"cr", "6.5e-4"}, {"mpqa", "2.3e-4"}};
  const Settings all{{"layers", "1"},        {"hidden", "200"},         {"bidirectional", "true"},
                     {"embedding", "300"},   {"batch_size", "50"},      {"epochs", "20"},
                     {"step_size", "0.001"}, {"square_decay", "0.99"},  {"clip_norm", "5"},
                     {"rate_unit", "datum"}, {"start", "orthogonal"},   {"start_range", "0.01"},
                     {"forget_bias", "3"},   {"samples_per_epoch", "1"}};
  const Settings naive{{"dropout", "0.5"}, {"dropout_mask", "each_step"}},
      variational{{"dropout", "0.5"}, {"dropout_mask", "sequence"}};
  std::vector<PublishedPreset> presets;
  for (const PublishedSet& set : sets) {
    const Settings chain = joined(all, {{"step_size", "0.002"},  // their program goes as far as RMSprop, which is h/2
                                        {"temperature", set.temperature},
                                        {"burn_in", "0.05"}});
    const auto add = [&](const char* method, const char* sampler, const Settings& settings) {
      presets.push_back({std::string(set.data) + "-" + method, source, set.data, sampler, settings});
    };
    add("rmsprop", "rmsprop", all);
    add("rmsprop-dropout", "rmsprop", joined(all, naive));
    add("rmsprop-variational-dropout", "rmsprop", joined(all, variational));
    add("psgld", "psgld", chain);
    add("psgld-dropout", "psgld", joined(chain, naive));
  }
  return presets;
}

}  // namespace

const std::vector<PublishedPreset>& sentence_presets() {
  static const std::vector<PublishedPreset> all = make_presets();
  return all;
}

}  // namespace stein::lm
