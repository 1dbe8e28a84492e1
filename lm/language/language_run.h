// Language models of one text, one a seed, and what their summary says.
#pragma once

#include <stein/lm/language/language_trainer.h>
#include <stein/runs/run.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stein::lm {

/// What `stein lm train` carries out.
class LanguageRun final : public runs::RunOf<LanguageTrainer> {
 public:
  /// What a run is of besides its text.
  struct Facts {
    std::string network;  ///< "lstm 2x200"
    std::string method;   ///< "psgld"
    std::int64_t epochs = 0;
    std::map<std::string, std::string> text_options{};
  };
  LanguageRun(runs::SeedRange seeds, std::shared_ptr<const Corpus> corpus, Facts facts,
              const std::function<std::unique_ptr<LanguageTrainer>(std::uint64_t seed)>& make_trainer);

  const Corpus& corpus() const { return *corpus_; }
  /// Where the samples of a repetition are stored.
  static std::filesystem::path sample_folder(const RunDirectory& directory, std::uint64_t seed);
  void open_files(const RunDirectory& directory) override;
  std::string source() const override;
  std::vector<std::string> notices() const override;
  nlohmann::ordered_json protocol() const override;
  std::map<std::string, std::string> data_checksums() const override { return corpus_->checksums; }
  void check_manifest(const nlohmann::ordered_json& manifest) const override;
  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  nlohmann::ordered_json summarize(const StopToken& stop) override;
  /// vocabulary.txt, and curves.json: losses of averages over 1, 2, … samples.
  void write_results(const RunDirectory& directory) override;

 private:
  double training_seconds() const;

  std::shared_ptr<const Corpus> corpus_;
  Facts facts_;
  std::vector<TextLosses> validation_losses_, test_losses_;  ///< one a seed, once it was summarised
  double earlier_seconds_ = 0;
};

/// {loss, perplexity, bits_per_character} of losses in nats a token, one a seed; bits are null unless tokens are bytes
/// or characters.
nlohmann::ordered_json loss_json(const std::vector<double>& losses, TokenUnit unit);

}  // namespace stein::lm
