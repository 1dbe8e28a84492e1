// What a trained language model is worth on a text: `stein lm eval`.
#pragma once

#include <stein/lm/evaluation/text_protocol.h>
#include <stein/lm/language/language_experiment.h>
#include <stein/runs/run_action.h>
#include <stein/training/predicting_weights.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stein::lm {

/// Scores the test part, the validation part or another text, by averages over draws of the weights; on demand with
/// dynamic evaluation, with sharpened weights, with pruned ones, and with entropies and their gap to the reversed text.
/// For another text it needs nothing but the run's directory.
class LanguageEvaluation final : public runs::SavedRunAction<LanguageExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  /// Which text of the run's own.
  enum class Part { test, validation };
  /// How the text is scored: as the run says, or otherwise.
  enum class Protocol { run, stateful_1, stateful, zero_state };
  /// How sure one seed's model is: means over tokens, in nats.
  struct Entropies {
    double averaged = 0, single = 0;  ///< of the average over draws; of a draw alone
    double reversed = 0;              ///< of the average, on the reversed text
    std::vector<double> gaps{};  ///< of averages over the first 1, 2, … draws: on the reversed text less on the text
  };
  /// What the same weights lose of the same text where they move and where they stay.
  struct Dynamic {
    double moving = 0, still = 0;
  };
  /// What one seed's model is worth; losses are means of −log p in nats.
  struct Worth {
    std::string protocol;
    std::int64_t tokens = 0, draws = 1;
    double single = 0, averaged = 0;
    std::optional<Dynamic> dynamic{};
    std::optional<double> bound{};
    std::vector<double> pruned{};  ///< one a share
    std::optional<Entropies> entropies{};
  };

  /// What is scored, as tokens.
  struct ScoredText {
    std::string name;
    Stretches tokens;
    std::int64_t unknown = 0;  ///< words that the vocabulary does not have
  };

  nlohmann::ordered_json perform_saved(const LanguageExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;
  ScoredText text_of(const LanguageExperiment& experiment, const runs::SavedRun& saved,
                     const Vocabulary& vocabulary) const;
  /// How often one seed's network reads the text.
  std::int64_t passes(std::int64_t draws) const;
  Worth worth(const LanguageExperiment& experiment, training::TrainedNetwork& network, const Stretches& text,
              Progress& progress) const;
  Dynamic dynamic(const LanguageExperiment& experiment, training::TrainedNetwork& network, const Stretches& text) const;
  double bound(const LanguageExperiment& experiment, training::WeightDraws& draws, training::TrainedNetwork& network,
               const Stretches& text) const;
  static Entropies entropies(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text,
                             Progress& progress);
  static nlohmann::ordered_json entropies_json(const std::vector<Worth>& seeds);
  TextProtocol protocol_of(const LanguageExperiment& experiment) const;

  Part part_ = Part::test;
  std::filesystem::path text_{};
  training::PredictingWeights weights_;
  Protocol protocol_ = Protocol::run;
  bool bound_ = false, entropy_ = false;
  double dynamic_rate_ = 0;
  std::vector<double> shares_{};
  std::vector<std::string> prune_{};
};

}  // namespace stein::lm
