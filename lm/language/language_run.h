// Language models of one text, one a seed, and what their summary says.
#pragma once

#include <stein/lm/language/language_trainer.h>
#include <stein/training/epoch_run.h>

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stein::lm {

/// What `stein lm train` carries out.
class LanguageRun final : public training::EpochRunOf<LanguageTrainer> {
 public:
  /// What a run is of besides its text.
  struct Facts {
    std::string network;  ///< "lstm 2x200"
    std::string method;   ///< "psgld"
    std::int64_t epochs = 0;
    std::map<std::string, std::string> text_options{};
    std::int64_t draws = 1;          ///< of a variational method, for the report
    std::int64_t report_tokens = 0;  ///< that uncertainty.json has one by one; 0: it is not written
  };
  LanguageRun(runs::SeedRange seeds, std::shared_ptr<const Corpus> corpus, Facts facts,
              const std::function<std::unique_ptr<LanguageTrainer>(std::uint64_t seed)>& make_trainer);

  const Corpus& corpus() const { return *corpus_; }
  std::string source() const override;
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  std::map<std::string, std::string> data_checksums() const override { return corpus_->checksums; }
  /// Those of the repetitions, and once it was summarised whether it is worse than equal chances for all tokens.
  std::vector<std::string> warnings() const override;
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// vocabulary.txt; curves.json, losses of averages over 1, 2, … samples; uncertainty.json, of the first seed
  /// (lm/language/uncertainty_file.h).
  void write_results(const RunDirectory& directory) override;

 private:
  std::shared_ptr<const Corpus> corpus_;
  Facts facts_;
  std::vector<TextLosses> validation_losses_, test_losses_;  ///< one a seed, once it was summarised
};

}  // namespace stein::lm
