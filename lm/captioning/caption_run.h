// Captioning models of one set of images, one a seed, and what their summary says.
#pragma once

#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_quality.h>
#include <stein/lm/captioning/caption_trainer.h>
#include <stein/training/epoch_run.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stein::lm {

/// What `stein caption train` carries out.
class CaptionRun final : public training::EpochRunOf<CaptionTrainer> {
 public:
  /// What a run is of besides its images.
  struct Facts {
    std::string network;  ///< "lstm 1x512"
    std::string method;   ///< "psgld"
    std::int64_t epochs = 0;
    CaptionDecodingOptions decoding{};
    std::map<std::string, std::string> data_options{};
  };
  CaptionRun(runs::SeedRange seeds, std::shared_ptr<const CaptionCorpus> corpus, Facts facts,
             const std::function<std::unique_ptr<CaptionTrainer>(std::uint64_t seed)>& make_trainer);

  const CaptionCorpus& corpus() const { return *corpus_; }
  /// What the images show, by their ids; empty unless they are the made-up scenes.
  const std::map<std::string, Scene>& scenes() const { return scenes_; }
  std::string source() const override;
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  /// Sums of the files that were read, and of the vocabulary that they gave.
  std::map<std::string, std::string> data_checksums() const override;
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// vocabulary.txt; captions.json and references.json, the first seed's averaged captions of the test part, which
  /// `stein caption score` takes; curves.json; examples.json for the report.
  void write_results(const RunDirectory& directory) override;

 private:
  using Captions = std::vector<std::vector<DecodedCaption>>;  ///< of each image, the best first
  /// What one seed's model is worth on a part.
  struct PartWorth {
    TextLosses losses;
    std::int64_t samples = 1;  ///< that captions are averaged over
    Captions decoded{};        ///< under the average
    CaptionQuality single{}, averaged{}, final_weights{};
    std::optional<CaptionQuality> chosen{};
  };
  /// How often one seed's model describes the images of a part for `worth`.
  std::int64_t rounds();
  PartWorth worth(CaptionTrainer& trainer, const std::vector<CaptionedImage>& images, const TextLosses& losses,
                  const Watch& watch) const;
  nlohmann::ordered_json part_json(const std::vector<PartWorth>& worths, const std::vector<CaptionedImage>& images,
                                   std::size_t captions) const;
  CaptionDecoder decoder(CaptionTrainer& trainer) const;

  std::shared_ptr<const CaptionCorpus> corpus_;
  Facts facts_;
  std::map<std::string, Scene> scenes_;
  std::vector<PartWorth> validation_, test_;  ///< one a seed, once it was summarised
};

/// {loss, perplexity, BLEU-1, …, METEOR-exact-stem} of models on some captions, one a seed; and of scenes exact_truth,
/// false and no_caption, shares of the captions.
nlohmann::ordered_json quality_json(const std::vector<double>& losses, const std::vector<CaptionQuality>& qualities);

/// Features of images by rows: the rows of some images.
std::vector<std::int64_t> rows_of(std::span<const CaptionedImage> images);

}  // namespace stein::lm
