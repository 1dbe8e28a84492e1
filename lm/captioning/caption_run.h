// Captioning models of one set of images, one a seed, and what their summary says.
#pragma once

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
    std::map<std::string, std::string> data_options{};
  };
  CaptionRun(runs::SeedRange seeds, std::shared_ptr<const CaptionCorpus> corpus, Facts facts,
             const std::function<std::unique_ptr<CaptionTrainer>(std::uint64_t seed)>& make_trainer);

  const CaptionCorpus& corpus() const { return *corpus_; }
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
  /// What one seed's model is worth on a part.
  struct PartWorth {
    TextLosses losses;
    CaptionWorth captions;
  };
  nlohmann::ordered_json part_json(const std::vector<PartWorth>& worths, const std::vector<CaptionedImage>& images,
                                   std::size_t captions) const;

  std::shared_ptr<const CaptionCorpus> corpus_;
  Facts facts_;
  std::vector<PartWorth> validation_, test_;  ///< one a seed, once it was summarised
};

/// {loss, perplexity, BLEU-1, …, METEOR-exact-stem} of models on some captions, one a seed; and of scenes exact_truth,
/// false and no_caption, shares of the captions.
nlohmann::ordered_json quality_json(const std::vector<double>& losses, const std::vector<CaptionQuality>& qualities);

}  // namespace stein::lm
