#include <stein/lm/classification/sentence_prediction.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/runs/measured.h>
#include <stein/training/class_answers.h>
#include <stein/training/line_service.h>
#include <stein/training/row_classifier.h>

#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Answers lines with what a classifier says of them.
class SentenceService final : public training::LineService {
 public:
  SentenceService(const SentenceOptions& options, SentenceExperiment::Meaning meaning, inference::Model<float>& model,
                  training::WeightDraws& draws)
      : options_(options),
        classes_(std::move(meaning.classes)),
        model_(model),
        draws_(draws),
        vocabulary_(std::make_shared<const Vocabulary>(std::move(meaning.vocabulary))) {}

 private:
  std::optional<std::string> keep(std::string_view line) override {
    if (!simdjson::validate_utf8(line.data(), line.size())) return "expected UTF-8";
    const std::vector<std::string> words = words_of(line, options_);
    if (words.empty()) return "expected a sentence, found no word";
    kept_.push_back({.words = numbers_of(words, *vocabulary_), .label = 0});
    unknown_.push_back(std::ranges::count_if(words, [&](const std::string& word) { return !vocabulary_->find(word); }));
    return "";
  }
  std::vector<Json> answer_kept() override {
    SentenceRows rows(std::exchange(kept_, {}), vocabulary_);
    std::vector<Json> answers =
        training::class_answers(training::RowClassifier(rows).classify(model_, draws_).predictive(), classes_);
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i]["unknown"] = unknown_[i];
    unknown_.clear();
    return answers;
  }

  const SentenceOptions& options_;
  std::vector<std::string> classes_;
  inference::Model<float>& model_;
  training::WeightDraws& draws_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<NumberedSentence> kept_;
  std::vector<std::int64_t> unknown_;  ///< words of each that the vocabulary lacks
};

}  // namespace

void SentencePrediction::describe(OptionTable& table) {
  network_.describe_with_dropout(table);
}

Json SentencePrediction::perform_saved(const SentenceExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string&, const runs::Console& console) {
  training::TrainedNetwork network = network_.of(experiment, saved);
  training::WeightDraws draws = network_.draws_of(network);
  SentenceService service(experiment.sentences(), SentenceExperiment::Meaning::saved_in(network.meaning()),
                          network.model(), draws);
  service.serve(console);
  return {{"sentences", service.answered()}, {"errors", service.errors()}};
}

std::string SentencePrediction::readable(const Json& result) const {
  return fmt::format("{} classified, {}\n", runs::counted(result["sentences"].get<std::int64_t>(), "sentence"),
                     runs::counted(result["errors"].get<std::int64_t>(), "error"));
}

}  // namespace stein::lm
