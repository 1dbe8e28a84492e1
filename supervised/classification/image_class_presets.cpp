#include <stein/supervised/classification/image_class_presets.h>
#include <stein/training/compression.h>

#include <map>
#include <string>

namespace stein::supervised {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

/// The shallow convolutional networks of Deng et al. 2019. Their temperature 1/τ is that of a step in which the
/// likelihood is multiplied by N/n, as here.
void add_convolutional(std::vector<PublishedPreset>& to) {
  constexpr const char* source = "Deng et al. 2019, section 5.2 and E: batches of 1,000";
  const Settings plain{
      {"network", "conv-2-fc-2"}, {"batch_size", "1000"}, {"validation_images", "0"}, {"normalisation", "none"}},
      augmented{{"network", "conv-2-bn-fc-3"},
                {"batch_size", "1000"},
                {"validation_images", "0"},
                {"normalisation", "published"},
                {"crop_padding", "4"},
                {"rotation", "15"},
                {"epochs", "200"}};
  const Settings adam{{"step_size", "0.001"}}, sghmc{{"rate_unit", "joint"},
                                                     {"step_size", "5e-7"},
                                                     {"clip_norm", "0"},
                                                     {"friction", "0.1"},
                                                     {"temperature", "1e-3"}};
  // The spike and slab lies on the first layer that is not a convolution.
  const Settings sparse = joined(joined(sghmc, training::deep_sparse_prior()), {{"sparse_layers", "hidden0.weight"}});
  const Settings em = joined(sparse, {{"adaptation", "em"}});
  const auto add = [&](const char* name, const char* sampler, const Settings& settings) {
    to.push_back({name, source, "mnist", sampler, settings});
  };
  add("mnist-cnn-adam", "adam", joined(plain, adam));
  add("mnist-cnn-adam-dropout", "adam", joined(joined(plain, adam), {{"dropout", "0.5"}}));
  add("mnist-cnn-sghmc", "sghmc", joined(plain, sghmc));
  add("mnist-cnn-sghmc-sa", "sghmc-sa", joined(plain, sparse));
  add("mnist-cnn-sghmc-em", "sghmc-sa", joined(plain, em));
  add("da-mnist-cnn-adam", "adam", joined(augmented, adam));
  add("da-mnist-cnn-adam-dropout", "adam", joined(joined(augmented, adam), {{"dropout", "0.5"}}));
  add("da-mnist-cnn-sghmc", "sghmc", joined(augmented, sghmc));
  add("da-mnist-cnn-sghmc-sa", "sghmc-sa", joined(augmented, sparse));
  add("da-mnist-cnn-sghmc-em", "sghmc-sa", joined(augmented, em));
}

/// Softmax regression by the samplers of Hernández et al. 2020. Their figures come from a program whose friction is
/// half of what the paper says, and whose step is a hundredth of it (DropoutSghmcOptions::as_published).
void add_softmax_regressions(std::vector<PublishedPreset>& to) {
  constexpr const char* source =
      "Hernández et al. 2020, table 2: softmax regression, 100 epochs; steps and friction as their program has them";
  const Settings all{{"hidden", "none"},
                     {"epochs", "100"},
                     {"batch_size", "100"},
                     {"validation_images", "0"},
                     {"normalisation", "minibatch"},
                     {"rate_unit", "joint"},
                     {"step_size", "1e-6"},
                     {"clip_norm", "0"},
                     {"burn_in", "0.0083"},
                     {"seeds", "0:5"}};
  const Settings momentum = joined(all, {{"friction", "0.5"}});
  to.push_back({"mnist-softmax-sghmc", source, "mnist", "sghmc", momentum});
  to.push_back({"mnist-softmax-sgld", source, "mnist", "sgld",
                joined(all, {{"step_size", "5e-5"}, {"step_decay_steps", "1"}, {"step_decay_exponent", "0.55"}})});
  for (const char* const keep : {"0.9", "0.5", "0.1"})
    to.push_back({std::string("mnist-softmax-dropout-sghmc-keep-") + keep, source, "mnist", "dropout-sghmc",
                  joined(momentum, {{"keep", keep}})});
}

/// Posterior sharpening beside plain Bayes by Backprop, of which Fortunato et al. say no more than that it was a little
/// faster: the network of Blundell et al. 2015, steps and starts of our own, the same for both.
void add_sharpened(std::vector<PublishedPreset>& to) {
  constexpr const char* source =
      "Fortunato et al. 2017, section 6.1: Bayes by Backprop of Blundell et al. 2015 with and without sharpening; "
      "steps "
      "and starts are our own";
  const Settings all{{"hidden", "400,400"},
                     {"epochs", "20"},
                     {"batch_size", "100"},
                     {"validation_images", "10000"},
                     {"step_size", "0.001"},
                     {"initial_deviation_low", "0.01"},
                     {"initial_deviation_high", "0.01"},
                     {"outer_deviation", "2"}};
  for (const char* const sampler : {"bbb", "sharpening"})
    to.push_back({std::string("mnist-400-") + sampler, source, "mnist", sampler, all});
}

std::vector<PublishedPreset> make_image_class_presets() {
  constexpr const char* source =
      "Zhang et al. 2018, table 2: 784-X-X-10 ReLU, 100 epochs, 50,000 images for training; 20 particles";
  std::vector<PublishedPreset> presets;
  for (const char* const width : {"400", "800"}) {
    const Settings all{{"hidden", std::string(width) + "," + width},
                       {"epochs", "100"},
                       {"batch_size", "100"},
                       {"validation_images", "10000"},
                       {"particles", "20"}};
    const std::string name = std::string("mnist-") + width + "-";
    presets.push_back({name + "svgd", source, "mnist", "svgd", joined(all, {{"learn_weight_precision", "true"}})});
    presets.push_back({name + "s2vgd", source, "mnist", "s2vgd",
                       joined(all, {{"learn_weight_precision", "true"}, {"learn_reflector_precision", "true"}})});
  }
  add_sharpened(presets);
  add_softmax_regressions(presets);
  add_convolutional(presets);
  return presets;
}

}  // namespace

const std::vector<PublishedPreset>& image_class_presets() {
  static const std::vector<PublishedPreset> all = make_image_class_presets();
  return all;
}

}  // namespace stein::supervised
