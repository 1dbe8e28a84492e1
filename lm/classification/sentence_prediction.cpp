#include <stein/core/error.h>
#include <stein/core/line_stream.h>
#include <stein/lm/classification/sentence_prediction.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/runs/measured.h>
#include <stein/training/class_answers.h>
#include <stein/training/row_classifier.h>

#include <simdjson.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Sentences that are classified together where so many wait.
constexpr std::size_t most_sentences = 256;

/// Answers lines with what a classifier says of them.
class SentenceService {
 public:
  SentenceService(const SentenceOptions& options, SentenceExperiment::Meaning meaning, inference::Model<float>& model,
                  training::WeightDraws& draws)
      : options_(options),
        classes_(std::move(meaning.classes)),
        model_(model),
        draws_(draws),
        vocabulary_(std::make_shared<const Vocabulary>(std::move(meaning.vocabulary))) {}

  std::int64_t sentences() const { return sentences_; }
  std::int64_t errors() const { return errors_; }

  /// Keeps a line until `answer`.
  void take(std::string_view line) {
    Json& answer = answers_.emplace_back(Json::object());
    const bool readable = simdjson::validate_utf8(line.data(), line.size());
    const std::vector<std::string> words = readable ? words_of(line, options_) : std::vector<std::string>{};
    if (words.empty()) {
      answer["error"] = readable ? "expected a sentence, found no word" : "expected UTF-8";
      ++errors_;
      return;
    }
    NumberedSentence sentence;
    std::int64_t unknown = 0;
    for (const std::string& word : words) {
      const auto number = vocabulary_->find(word);
      unknown += !number.has_value();
      sentence.words.push_back(number.value_or(*vocabulary_->unknown()));
    }
    answer["unknown"] = unknown;
    waiting_.push_back(std::move(sentence));
  }
  bool full() const { return answers_.size() >= most_sentences; }

  /// Writes a line for every line that was taken.
  void answer(std::FILE* out) {
    if (!waiting_.empty()) classify();
    for (const Json& line : answers_)
      if (std::fputs((line.dump() + "\n").c_str(), out) < 0) fail(ErrorKind::io, "cannot write to standard output");
    if (std::fflush(out) != 0) fail(ErrorKind::io, "cannot write to standard output");
    answers_.clear();
  }

 private:
  void classify() {
    sentences_ += std::ssize(waiting_);
    SentenceRows rows(std::exchange(waiting_, {}), vocabulary_);
    const std::vector<Json> answers =
        training::class_answers(training::RowClassifier(rows).classify(model_, draws_).predictive(), classes_);
    std::size_t row = 0;
    for (Json& answer : answers_) {
      if (answer.contains("error")) continue;
      const Json unknown = std::exchange(answer, answers[row++])["unknown"];
      answer["unknown"] = unknown;
    }
  }

  const SentenceOptions& options_;
  std::vector<std::string> classes_;
  inference::Model<float>& model_;
  training::WeightDraws& draws_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<Json> answers_;
  std::vector<NumberedSentence> waiting_;
  std::int64_t sentences_ = 0, errors_ = 0;
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
  LineStream lines(fileno(console.in));
  for (std::string_view line; lines.next(line, console.stop);) {
    service.take(line);
    if (service.full() || !lines.ready()) service.answer(console.out);
  }
  service.answer(console.out);
  return {{"sentences", service.sentences()}, {"errors", service.errors()}};
}

std::string SentencePrediction::readable(const Json& result) const {
  return fmt::format("{} classified, {}\n", runs::counted(result["sentences"].get<std::int64_t>(), "sentence"),
                     runs::counted(result["errors"].get<std::int64_t>(), "error"));
}

}  // namespace stein::lm
