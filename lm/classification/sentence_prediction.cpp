#include <stein/core/error.h>
#include <stein/core/line_stream.h>
#include <stein/lm/classification/sentence_prediction.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/runs/measured.h>
#include <stein/training/classifier_run.h>

#include <simdjson.h>

#include <cstdio>
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
  SentenceService(const SentenceOptions& options, const std::vector<std::string>& classes,
                  training::ClassifierTrainer& trainer, training::WeightDraws& draws)
      : options_(options),
        classes_(classes),
        trainer_(trainer),
        draws_(draws),
        vocabulary_(dynamic_cast<const SentenceRows&>(trainer.test_rows()).vocabulary()) {}

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
    const inference::Predictive predictive = trainer_.classify(rows, draws_).predictive();
    const inference::MatrixView<const double> mean = predictive.mean();
    const std::vector<double> deviation = predictive.deviation(), entropy = predictive.entropy(),
                              information = predictive.mutual_information();
    std::size_t row = 0;
    for (Json& answer : answers_) {
      if (answer.contains("error")) continue;
      const Json unknown = std::exchange(answer, Json::object())["unknown"];
      std::size_t best = 0;
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        const double p = mean(static_cast<std::int64_t>(row), static_cast<std::int64_t>(c));
        if (p > mean(static_cast<std::int64_t>(row), static_cast<std::int64_t>(best))) best = c;
        answer["probabilities"][classes_[c]] = runs::rounded(p);
        answer["deviations"][classes_[c]] = runs::rounded(deviation[row * classes_.size() + c]);
      }
      answer["class"] = classes_[best];
      answer["entropy"] = runs::rounded(entropy[row]);
      answer["mutual_information"] = runs::rounded(information[row]);
      answer["unknown"] = unknown;
      ++row;
    }
  }

  const SentenceOptions& options_;
  const std::vector<std::string>& classes_;
  training::ClassifierTrainer& trainer_;
  training::WeightDraws& draws_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<Json> answers_;
  std::vector<NumberedSentence> waiting_;
  std::int64_t sentences_ = 0, errors_ = 0;
};

}  // namespace

void SentencePrediction::describe(OptionTable& table) {
  table("seed", seed_, "whose classifier: a seed of the run; -1: its first", between(-1, 9e15));
  table("draws", draws_, "draws of a variational method, and of dropout", between(1, 10'000));
  table("draw_seed", draw_seed_, "seed of draws", at_least(0));
  table("dropout", dropout_, "predict with the network's dropout, averaged over draws of it");
}

Json SentencePrediction::perform(const RunDirectory& directory, const std::string& data, const runs::Console& console) {
  const runs::LoadedRun loaded = runs::load_run(directory, data);
  const auto& experiment = dynamic_cast<const SentenceExperiment&>(*loaded.experiment);
  auto& run = dynamic_cast<training::ClassifierRun&>(*loaded.run);
  const runs::SeedRange seeds = experiment.seeds();
  const auto seed = seed_ < 0 ? seeds.first : static_cast<std::uint64_t>(seed_);
  STEIN_CHECK(seeds.contains(seed), "--seed {}: the run has seeds {}:{}", seed_, seeds.first, seeds.end);
  training::ClassifierTrainer& trainer = run.repetition(static_cast<std::int64_t>(seed - seeds.first));
  training::WeightDraws draws(trainer.weights(),
                              {.draws = draws_, .dropout = dropout_, .seed = static_cast<std::uint64_t>(draw_seed_)},
                              training::ClassifierRun::sample_folder(directory, seed), trainer.stored_samples());
  SentenceService service(experiment.sentences(), run.facts().classes, trainer, draws);
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
