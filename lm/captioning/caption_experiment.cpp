#include <stein/core/error.h>
#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/caption_presets.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/runs/run_kind.h>

#include <filesystem>

namespace stein::lm {

CaptionExperiment::CaptionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : Experiment(
          kind,
          {.steps = 0, .checkpoint_every = 200'000, .may_end = true, .note = ", all epochs, which is what it is for"}) {
  const training::PublishedPreset* const preset =
      training::named_preset(caption_presets(), sources, "captioning models");
  data_.data = sources.look_ahead("data", preset != nullptr && !preset->data.empty() ? preset->data : data_.data);
  method_ = sources.look_ahead("sampler", preset != nullptr ? preset->sampler : method_);
  method_options_ = training::weight_methods().at(method_).defaults;
  STEIN_CHECK(preset == nullptr || !preset->data.empty() || data_.is_file(),
              "the preset '{}' is for captions of your own: set `data` to their file, such as dataset_coco.json, and "
              "`features` to the features of their images",
              sources.preset);
  if (!data_.is_file()) static_cast<void>(caption_sets().at(data_.data));
  add_run([this](OptionTable& table) {
    table("sampler", method_, "how weights are found; `stein list` names the methods");
  });
  add_part("Images", [this](OptionTable& table) { data_.describe(table); });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  add_part("Method " + method_, [this](OptionTable& table) { method_options_.describe(table); });
  for (const training::PublishedPreset& each : caption_presets())
    if ((each.data == data_.data || (each.data.empty() && data_.is_file())) && each.sampler == method_)
      offer_preset({.name = each.name, .description = each.source, .settings = each.settings});
  read(sources);
  if (data_.is_file()) data_.data = std::filesystem::absolute(data_.data).string();
}

std::string CaptionExperiment::name() const {
  const std::string images = data_.is_file() ? std::filesystem::path(data_.data).stem().string() : data_.data;
  return fmt::format("{}/{}", images, method_);
}

inference::RecurrentSpec CaptionExperiment::network(std::int64_t vocabulary, std::int64_t features) const {
  inference::RecurrentSpec spec = network_.recurrent.spec;
  spec.vocabulary = vocabulary, spec.features = features;
  return spec;
}

std::unique_ptr<runs::Run> CaptionExperiment::make_run(const std::string&) const {
  const auto corpus =
      std::make_shared<const CaptionCorpus>(make_caption_corpus(read_caption_data(data_), training_.min_count));
  const inference::RecurrentSpec spec = network(corpus->vocabulary.size(), corpus->data.features.columns());
  const auto make_trainer = [&](std::uint64_t seed) {
    return std::make_unique<CaptionTrainer>(
        *corpus, training_, method_options_, spec,
        make_recurrent_model(spec, method_options_.posterior.arithmetic, seeds().count()), seed);
  };
  return std::make_unique<CaptionRun>(seeds(), corpus,
                                      CaptionRun::Facts{.network = network_name(spec),
                                                        .method = method_,
                                                        .epochs = training_.epochs.epochs,
                                                        .decoding = training_.decoding,
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
  for (const auto& [name, method] : training::weight_methods().entries()) {
    training::WeightMethodOptions options = method.defaults;
    parts.push_back(runs::make_part("method", name, method.description, OptionTable::of(options)));
  }
  parts.push_back(training::published_part(caption_presets()));
  return parts;
}

}  // namespace stein::lm
