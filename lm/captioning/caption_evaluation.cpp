#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/lm/captioning/caption_evaluation.h>
#include <stein/lm/captioning/caption_prediction.h>
#include <stein/lm/captioning/caption_scorer.h>
#include <stein/lm/captioning/readable_caption_summary.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/runs/measured.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Other images than the run's, in the network's width.
CaptionData read_other_images(const std::filesystem::path& images, const std::filesystem::path& features,
                              std::int64_t width) {
  STEIN_CHECK(!features.empty() || width == 0, "the images of '{}' come without features: set `features` too",
              images.string());
  CaptionData data =
      read_caption_data({.data = images.string(), .features = features, .captions_only = features.empty()});
  if (data.features.columns() != width)
    fail(ErrorKind::data, "'{}' has {} features an image: expected {}, which the run's network reads",
         features.string(), data.features.columns(), width);
  return data;
}

}  // namespace

void CaptionEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the images",
        {{"test", Part::test}, {"validation", Part::validation}, {"train", Part::train}});
  table("images", images_, "other captioned images, a file in Karpathy & Fei-Fei's form; its words are the run's");
  table("features", features_, "of the other images: a .npy or .safetensors file as wide as the run's");
  weights_.describe(table);
  table("decoding", decoding_, "how captions are made: as the run says, by beam search, or drawn word by word",
        {{"run", Decoding::run}, {"beam", Decoding::beam}, {"sampled", Decoding::sampled}});
  table("beam_width", beam_width_, "hypotheses of an image; 0: as the run says", between(0, 1000));
  table("length_power", length_power_, "captions are ordered by log p / length^power; -1: as the run says",
        between(-1, 10));
  table("max_length", max_length_, "the most words of a caption; 0: as the run says", between(0, 1000), "words");
  table("sharpness", sharpness_, "of sampled captions: probabilities are raised to this power; 0: as the run says",
        non_negative);
  table("out", out_, "a folder for captions.json and references.json of the first seed; empty: they are not written");
}

CaptionDecodingOptions CaptionEvaluation::decoding_of(const CaptionExperiment& experiment) const {
  CaptionDecodingOptions options = experiment.training().decoding;
  using Way = CaptionDecodingOptions::Decoding;
  if (decoding_ != Decoding::run) options.decoding = decoding_ == Decoding::beam ? Way::beam : Way::sampled;
  if (sharpness_ > 0) options.sharpness = sharpness_;
  if (beam_width_ > 0) options.beam.beam_width = beam_width_;
  if (max_length_ > 0) options.beam.max_length = max_length_;
  if (length_power_ >= 0) options.beam.length_power = length_power_;
  return options;
}

Json CaptionEvaluation::perform_on(const CaptionExperiment& experiment, CaptionRun& run, const RunDirectory& directory,
                                   std::FILE*) {
  STEIN_CHECK(features_.empty() || !images_.empty(), "`features` are of other images: set `images` too");
  const CaptionCorpus& corpus = run.corpus();
  CaptionData other;
  if (!images_.empty()) other = read_other_images(images_, features_, corpus.data.features.columns());
  const CaptionData& data = images_.empty() ? corpus.data : other;
  const std::vector<CaptionedImage>& images = part_ == Part::test         ? data.test
                                              : part_ == Part::validation ? data.validation
                                                                          : data.train;
  std::int64_t unknown = 0;
  const std::vector<CaptionSequence> sequences = caption_sequences(images, corpus.vocabulary, unknown);
  const CaptionDecodingOptions decoding = decoding_of(experiment);
  const std::vector<std::int64_t> rows = rows_of(images);
  const std::map<std::string, Scene> none;
  std::vector<double> losses;
  std::vector<CaptionQuality> qualities;
  std::int64_t samples = 1;
  Json captions;
  for (std::int64_t i = 0; i < run.count(); ++i) {
    CaptionTrainer& trainer = run.repetition(i);
    inference::Model<float>& model = trainer.weights().posterior().model();
    const auto seed = static_cast<std::uint64_t>(weights_.seed);
    training::WeightDraws draws = weights_.of(trainer, directory);
    const inference::Matrix<float> weights = draws.all();
    samples = weights.rows();
    const CaptionDecoder decoder(model, trainer.spec(), corpus.vocabulary, data.features.view(), decoding);
    const auto candidates = candidate_captions(images, decoder.texts(decoder.decode(weights.view(), rows, seed)));
    qualities.push_back(caption_quality(candidates, images_.empty() ? run.scenes() : none));
    CaptionScorer scorer(sequences, data.features.view());
    SampledProbabilities probabilities(scorer.tokens());
    std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
    for (std::int64_t k = 0; k < samples; ++k) {
      scorer.score(model, {weights.view().block(k, 1), k}, log_probability);
      probabilities.add(log_probability);
    }
    losses.push_back(probabilities.averaged_loss());
    if (i > 0) continue;
    captions = captions_json(candidates);
    if (out_.empty()) continue;
    std::filesystem::create_directories(out_);
    write_file_atomically(out_ / "captions.json", captions.dump() + "\n");
    write_file_atomically(out_ / "references.json", references_json(candidates).dump() + "\n");
  }
  const bool drawn = decoding.decoding == CaptionDecodingOptions::Decoding::sampled;
  Json result{{"data", data.name},
              {"images", images.size()},
              {"captions", sequences.size()},
              {"unknown", unknown},
              {"samples", samples},
              {"decoding", drawn ? std::string("sampled") : fmt::format("beam {}", decoding.beam.beam_width)},
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
