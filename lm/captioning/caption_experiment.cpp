#include <stein/core/error.h>
#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/caption_presets.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/runs/run_kind.h>

namespace stein::lm {

CaptionExperiment::CaptionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : NetworkExperiment(kind, sources, published(), /*checkpoint_every=*/100'000) {
  data_.data = named_data(sources, published(), data_.data);
  const training::PublishedPreset* const preset =
      training::named_preset(published().presets, sources, published().what);
  STEIN_CHECK(preset == nullptr || !preset->data.empty() || data_.is_file(),
              "the preset '{}' is for captions of your own: set `data` to their file, such as dataset_coco.json, and "
              "`features` to the features of their images",
              sources.preset);
  if (!data_.is_file()) static_cast<void>(caption_sets().at(data_.data));
  add_sampler(training::NetworkInputs::words);
  add_part("Images", [this](OptionTable& table) { data_.describe(table); });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, data_.data, data_.is_file());
}

CaptionExperiment::Published CaptionExperiment::published() {
  return {caption_presets(), "captioning models"};
}

inference::RecurrentSpec CaptionExperiment::network(std::int64_t vocabulary, std::int64_t features) const {
  inference::RecurrentSpec spec = network_.recurrent.spec;
  spec.vocabulary = vocabulary, spec.features = features;
  return spec;
}

inference::RecurrentSpec CaptionExperiment::network(const Snapshot& meaning) const {
  return network(saved_vocabulary(meaning).size(), meaning.get_scalar<std::int64_t>("features"));
}

std::unique_ptr<inference::Model<float>> CaptionExperiment::make_model(const Snapshot& meaning,
                                                                       inference::Device device) const {
  return make_recurrent_model(network(meaning), method().posterior.arithmetic, device, 1);
}

CaptionCorpus CaptionExperiment::read_captions() const {
  return make_caption_corpus(read_caption_data(data_), training_.min_count);
}

std::unique_ptr<training::EpochRun> CaptionExperiment::make_trainings() const {
  const inference::Device device = this->device();
  STEIN_CHECK(method().kind != training::MethodKind::chain || training_.epochs.stored_samples > 0,
              "captions are decoded from the stored samples of a chain: set stored_samples to at least 1");
  const auto corpus = std::make_shared<const CaptionCorpus>(read_captions());
  const inference::RecurrentSpec spec = network(corpus->vocabulary.size(), corpus->data.features.columns());
  const auto make_trainer = [&](std::uint64_t seed) {
    return std::make_unique<CaptionTrainer>(
        *corpus, training_, method(), spec,
        make_recurrent_model(spec, method().posterior.arithmetic, device, seeds().count()), seed);
  };
  return std::make_unique<CaptionRun>(seeds(), corpus,
                                      CaptionRun::Facts{.network = network_name(spec),
                                                        .method = method_name(),
                                                        .epochs = training_.epochs.epochs,
                                                        .data_options = values_of("Images")},
                                      make_trainer);
}

std::vector<runs::Part> caption_parts() {
  CaptionDataOptions file{.data = "./dataset_coco.json"}, flickr{.data = "flickr8k"}, scenes;
  CaptionNetworkOptions network;
  CaptionTrainingOptions training;
  std::vector<runs::Part> parts{
      runs::make_part("images", "FILE", "captions in Karpathy & Fei-Fei's form, features beside",
                      OptionTable::of(file)),
      runs::make_part("images", "flickr8k", caption_sets().at("flickr8k").description, OptionTable::of(flickr)),
      runs::make_part("images", "scenes", caption_sets().at("scenes").description, OptionTable::of(scenes)),
      runs::make_part("network", "", "", OptionTable::of(network)),
      runs::make_part("training", "", "", OptionTable::of(training))};
  training::add_method_parts(parts, caption_presets(), training::NetworkInputs::words);
  return parts;
}

}  // namespace stein::lm
