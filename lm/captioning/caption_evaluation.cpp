#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_evaluation.h>
#include <stein/lm/captioning/caption_quality.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/lm/captioning/caption_scorer.h>
#include <stein/lm/captioning/readable_caption_summary.h>
#include <stein/lm/captions/image_features.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/runs/data_checksums.h>
#include <stein/runs/measured.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Other images than the run's, in the network's width.
CaptionData read_other_images(const std::filesystem::path& images, const std::filesystem::path& features,
                              std::int64_t width) {
  STEIN_CHECK(!features.empty() || width == 0, "the images of '{}' come without features: set `features` too",
              images.string());
  CaptionData data = read_caption_data(
      {.data = images.string(), .features = features, .captions_only = features.empty(), .needed = PartsNeeded::any});
  check_feature_width(features, data.features.columns(), width);
  return data;
}

/// Throws Error(usage) where there cannot be such a folder; does nothing for an empty name.
void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (!path.empty()) std::filesystem::create_directories(path, error);
  STEIN_CHECK(!error, "option 'out': cannot make the folder '{}': {}", path.string(), error.message());
}

}  // namespace

void CaptionEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the images",
        {{"test", Part::test}, {"validation", Part::validation}, {"train", Part::train}, {"all", Part::all}});
  table("images", images_, "other captioned images, a file in Karpathy & Fei-Fei's form; its words are the run's");
  table("features", features_, "of the other images: a .npy or .safetensors file as wide as the run's");
  weights_.describe(table);
  decoding_.describe(table);
  table("out", out_, "a folder for captions.json and references.json of the first seed; empty: they are not written");
}

CaptionEvaluation::ScoredImages CaptionEvaluation::images_of(const CaptionExperiment& experiment,
                                                             const runs::SavedRun& saved,
                                                             const training::TrainedNetwork& network) const {
  if (!images_.empty())
    return {.data = read_other_images(images_, features_, network.meaning().get_scalar<std::int64_t>("features"))};
  CaptionCorpus corpus = experiment.read_captions();
  runs::check_data_checksums(saved.manifest, corpus.data.checksums, "the data", "describe other images by `images`");
  if (corpus.vocabulary != saved_vocabulary(network.meaning()))
    fail(ErrorKind::data, "'{}' has another vocabulary now than the run began with: describe other images by `images`",
         corpus.data.name);
  return {.data = std::move(corpus.data), .scenes = std::move(corpus.scenes)};
}

std::vector<CaptionedImage> CaptionEvaluation::images_of_part(const CaptionData& data) const {
  std::vector<CaptionedImage> images;
  for (const auto& [part, of_part] :
       {std::pair(Part::train, &data.train), {Part::validation, &data.validation}, {Part::test, &data.test}})
    if (part_ == part || part_ == Part::all) images.insert(images.end(), of_part->begin(), of_part->end());
  if (images.empty())
    fail(ErrorKind::data, "'{}' has no image of this part, but {} of others: set `part` to all", data.name,
         data.image_count());
  return images;
}

Json CaptionEvaluation::perform_saved(const CaptionExperiment& experiment, const runs::SavedRun& saved,
                                      const std::string&, const runs::Console& console) {
  make_folder(out_);
  STEIN_CHECK(features_.empty() || !images_.empty(), "`features` are of other images: set `images` too");
  const CaptionDecodingOptions decoding = decoding_.of(experiment.training().decoding);
  console.progress->begin(experiment.name(), "passes over the captions", 0);
  std::optional<ScoredImages> scored;
  std::int64_t unknown = 0, caption_count = 0, image_count = 0, samples = 1;
  std::vector<double> losses;
  std::vector<CaptionQuality> qualities;
  Json captions;
  for (std::uint64_t run_seed = experiment.seeds().first; run_seed < experiment.seeds().end; ++run_seed) {
    training::TrainedNetwork network = experiment.trained_network(saved, run_seed, weights_.device);
    if (!scored) scored = images_of(experiment, saved, network);
    const CaptionData& data = scored->data;
    const std::vector<CaptionedImage> images = images_of_part(data);
    const Vocabulary vocabulary = saved_vocabulary(network.meaning());
    unknown = 0;
    const std::vector<CaptionSequence> sequences = caption_sequences(images, vocabulary, unknown);
    caption_count = std::ssize(sequences), image_count = std::ssize(images);
    training::WeightDraws draws = weights_.of(network);
    const inference::Matrix<float> weights = draws.all();
    samples = weights.rows();
    console.progress->expect(static_cast<std::uint64_t>((samples + 1) * experiment.seeds().count()));
    const CaptionDecoder decoder(network.model(), experiment.network(network.meaning()), vocabulary,
                                 data.features.view(), decoding);
    const auto decoded = decoder.decode(weights.view(), rows_of(images), static_cast<std::uint64_t>(weights_.seed));
    const auto candidates = candidate_captions(images, decoder.texts(decoded));
    qualities.push_back(caption_quality(candidates, scored->scenes));
    console.progress->advance(1);
    CaptionScorer scorer(sequences, data.features.view());
    SampledProbabilities probabilities(scorer.tokens());
    std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
    for (std::int64_t k = 0; k < samples; ++k) {
      scorer.score(network.model(), {weights.view().block(k, 1), k}, log_probability);
      probabilities.add(log_probability);
      console.progress->advance(1);
    }
    losses.push_back(probabilities.averaged_loss());
    if (losses.size() > 1) continue;
    captions = captions_json(candidates);
    if (out_.empty()) continue;
    write_file_atomically(out_ / "captions.json", captions.dump() + "\n");
    write_file_atomically(out_ / "references.json", references_json(candidates).dump() + "\n");
  }
  Json result{{"data", scored->data.name},
              {"images", image_count},
              {"captions", caption_count},
              {"unknown", unknown},
              {"samples", samples},
              {"decoding", decoding_name(decoding)},
              {"length_power", decoding.beam.length_power},
              {"max_length", decoding.beam.max_length}};
  result.update(quality_json(losses, qualities));
  result["decoded"] = std::move(captions);
  return result;
}

std::string CaptionEvaluation::readable(const Json& result) const {
  std::string text = fmt::format("{}: {} images, {} captions ({})\n", result["data"].get<std::string>(),
                                 result["images"].get<std::int64_t>(), result["captions"].get<std::int64_t>(),
                                 result["decoding"].get<std::string>());
  if (const auto unknown = result["unknown"].get<std::int64_t>(); unknown > 0)
    text +=
        fmt::format("  {} words of its captions are not in the vocabulary and stand as {}\n", unknown, unknown_word);
  const auto samples = result["samples"].get<std::int64_t>();
  text += readable_caption_scores(samples > 1 ? fmt::format("averaged over {}", samples) : "score", result);
  constexpr std::size_t shown = 5;
  for (std::size_t i = 0; i < std::min(shown, result["decoded"].size()); ++i) {
    const Json& caption = result["decoded"][i];
    text += fmt::format("  {}: {}\n", caption["image_id"].get<std::string>(), caption["caption"].get<std::string>());
  }
  return text;
}

}  // namespace stein::lm
