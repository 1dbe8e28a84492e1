#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/lm/language/language_sampling.h>
#include <stein/lm/language/text_prediction.h>
#include <stein/lm/text/tokenizer.h>
#include <stein/runs/measured.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// The token to begin with where there is no prompt: what stands before a sentence, or the first token there is.
std::int32_t opening_token(const Vocabulary& vocabulary) {
  const auto end = vocabulary.unit() == TokenUnit::words ? vocabulary.find(end_of_sentence) : vocabulary.find("\n");
  return end.value_or(0);
}

}  // namespace

void LanguageSampling::describe(OptionTable& table) {
  table("length", length_, "tokens of a text", between(1, 1e7), "tokens");
  table("texts", texts_, "how many texts", between(1, 1e6));
  table("prompt", prompt_, "what the text begins with");
  table("draws", draws_, "draws of a variational method that are averaged", between(1, 10'000));
  table("seed", seed_, "of what is drawn", at_least(0));
  table("sharpness", sharpness_, "probabilities are raised to this power: above 1 likely tokens become likelier",
        positive);
  table("by", by_, "tokens are drawn from the average over all draws of the weights, or each text with one of them",
        {{"average", By::average}, {"one", By::one}});
  table("device", device_, training::predicting_device_help);
}

std::string readable_text(std::span<const std::int32_t> tokens, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::int32_t token : tokens) {
    const std::string& word = vocabulary.token(token);
    if (vocabulary.unit() != TokenUnit::words)
      text += word;
    else if (word == end_of_sentence)
      text += '\n';
    else
      text += (text.empty() || text.back() == '\n' ? "" : " ") + word;
  }
  return text;
}

Json LanguageSampling::perform_saved(const LanguageExperiment& experiment, const runs::SavedRun& saved,
                                     const std::string&, const runs::Console&) {
  training::TrainedNetwork network = experiment.trained_network(saved, experiment.seeds().first, device_);
  const Vocabulary vocabulary = saved_vocabulary(network.meaning());
  TokenizedText text = prompt_.empty() ? TokenizedText{} : tokenize(prompt_, vocabulary, "the prompt");
  if (text.unknown > 0)
    log_info("{} of the prompt not in the vocabulary, which stand as {}", runs::counted(text.unknown, "word"),
             unknown_word);
  std::vector<std::int32_t> prompt = std::move(text.tokens);
  if (!prompt.empty() && vocabulary.token(prompt.back()) == end_of_sentence) prompt.pop_back();  // its line goes on
  training::WeightDraws draws = network.draws({.draws = draws_, .seed = static_cast<std::uint64_t>(seed_)});
  TextPrediction prediction(network.model(), draws);
  Json texts = Json::array();
  for (std::int64_t t = 0; t < texts_; ++t) {
    Draws random({.seed = static_cast<std::uint64_t>(seed_), .step = 0, .stream = Stream::decision},
                 static_cast<std::uint32_t>(t));
    const auto one = static_cast<std::int64_t>(random.integer(static_cast<std::uint32_t>(prediction.draws())));
    prediction.reset();
    prediction.read(opening_token(vocabulary));
    for (const std::int32_t token : prompt) prediction.read(token);
    std::vector<std::int32_t> tokens = prompt;
    std::vector<double> weights;
    for (std::int64_t k = 0; k < length_; ++k) {
      const std::span<const double> next = by_ == By::one ? prediction.probabilities(one) : prediction.average();
      weights.assign(next.begin(), next.end());
      const double most = std::ranges::max(weights);
      for (double& weight : weights) weight = std::pow(weight / most, sharpness_);
      tokens.push_back(static_cast<std::int32_t>(random.categorical(weights)));
      if (k + 1 < length_) prediction.read(tokens.back());
    }
    texts.push_back(readable_text(tokens, vocabulary));
  }
  return {{"draws", prediction.draws()}, {"unknown", text.unknown}, {"texts", std::move(texts)}};
}

std::string LanguageSampling::readable(const Json& result) const {
  std::string text;
  for (const Json& each : result["texts"]) text += (text.empty() ? "" : "\n----\n") + each.get<std::string>() + "\n";
  return text;
}

}  // namespace stein::lm
