#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/lm/evaluation/dynamic_evaluation.h>
#include <stein/lm/evaluation/loss_json.h>
#include <stein/lm/evaluation/sampled_probabilities.h>
#include <stein/lm/evaluation/sharpened_bound.h>
#include <stein/lm/evaluation/text_scorer.h>
#include <stein/lm/evaluation/text_uncertainty.h>
#include <stein/lm/evaluation/weight_pruning.h>
#include <stein/lm/language/language_evaluation.h>
#include <stein/lm/network/recurrent_options.h>
#include <stein/lm/text/tokenizer.h>
#include <stein/runs/data_checksums.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/share_list.h>
#include <stein/training/weight_draws.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;
using runs::of_each;

/// @param device  where its weights will lie, wherever the run was trained
std::unique_ptr<inference::Model<float>> network_without_dropout(inference::RecurrentSpec spec,
                                                                 inference::Arithmetic arithmetic,
                                                                 inference::Device device) {
  spec.dropout = 0;
  return make_recurrent_model(spec, arithmetic, device, 1);
}

inference::RecurrentSpec spec_of(const LanguageExperiment& experiment, const training::TrainedNetwork& network) {
  return experiment.network(saved_vocabulary(network.meaning()).size());
}

/// The network alone on the host, as it predicts: without dropout, and without what a method adds to it.
struct BareNetwork {
  std::unique_ptr<inference::Model<float>> model;
  std::vector<float> weights;  ///< [P]

  /// @param row  weights laid out as `layout`, those of the network among them
  BareNetwork(const inference::RecurrentSpec& spec, inference::Arithmetic arithmetic, std::span<const float> row,
              const inference::Layout& layout) {
    model = network_without_dropout(spec, arithmetic, {});
    weights.resize(static_cast<std::size_t>(model->layout().size()));
    for (const inference::LayoutEntry& entry : model->layout().entries())
      std::ranges::copy(
          row.subspan(static_cast<std::size_t>(layout.at(entry.name).offset), static_cast<std::size_t>(entry.size())),
          weights.begin() + entry.offset);
  }

  inference::ParticleRows<const float> row() const { return {{weights.data(), 1, model->layout().size()}, 0}; }
};

/// Which weights are pruned, and moved by dynamic evaluation.
const char* single_weights(training::MethodKind kind, training::PredictingWeights::By by) {
  if (by == training::PredictingWeights::By::best) return "best by validation";
  if (kind == training::MethodKind::variational) return "mean";
  return kind == training::MethodKind::ensemble ? "first particle" : "where training ended";
}

}  // namespace

void LanguageEvaluation::describe(OptionTable& table) {
  table("part", part_, "which part of the run's text", {{"test", Part::test}, {"validation", Part::validation}});
  table("text", text_, "another text, of the run's vocabulary; words that it does not have are `<unk>`, or refused");
  weights_.describe_with_dropout(table);
  table("protocol", protocol_, "how tokens are scored: as the run says, or otherwise",
        {{"run", Protocol::run},
         {"stateful-1", Protocol::stateful_1},
         {"stateful", Protocol::stateful},
         {"zero-state", Protocol::zero_state}});
  table("dynamic_rate", dynamic_rate_,
        "dynamic evaluation too: after each chunk of a minibatch's length the weights go so far along its gradient; "
        "0: none; 0.1 is published of 2 x 650 on Penn Treebank, small networks want less",
        non_negative);
  table("prune", prune_, "shares of the weights that are set to zero, the least signal to noise first: 0.5,0.8");
  table("bound", bound_,
        "of sharpening: what the text costs with weights sharpened on each minibatch too, an upper bound");
  table("entropy", entropy_, "entropies of the predictions too, and their gap to those of the reversed text");
}

TextProtocol LanguageEvaluation::protocol_of(const LanguageExperiment& experiment) const {
  switch (protocol_) {
    case Protocol::stateful_1: return TextProtocol::stateful_1;
    case Protocol::stateful: return TextProtocol::stateful;
    case Protocol::zero_state: return TextProtocol::zero_state;
    case Protocol::run: break;
  }
  return experiment.training().protocol;
}

std::int64_t LanguageEvaluation::passes(std::int64_t draws) const {
  return draws * (1 + (bound_ ? 1 : 0) + (entropy_ ? 2 : 0)) + std::ssize(shares_) + (dynamic_rate_ > 0 ? 2 : 0);
}

LanguageEvaluation::Worth LanguageEvaluation::worth(const LanguageExperiment& experiment,
                                                    training::TrainedNetwork& network, const Stretches& text,
                                                    Progress& progress) const {
  const LanguageTrainingOptions& run = experiment.training();
  inference::Model<float>& model = network.model();
  training::WeightDraws draws = weights_.of(network);
  TextScorer scorer(text, protocol_of(experiment), run.epochs.batch_size, run.unroll, "scored");
  SampledProbabilities samples(scorer.tokens());
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  progress.expect(static_cast<std::uint64_t>(passes(draws.count()) * experiment.seeds().count()));
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    const training::WeightDraws::Draw draw = draws.get(k);
    scorer.score(model, draw.weights, draw.dropout, log_probability);
    samples.add(log_probability);
    progress.advance(1);
  }
  Worth found{.protocol = scorer.protocol(),
              .tokens = scorer.tokens(),
              .draws = draws.count(),
              .single = samples.single_loss(),
              .averaged = samples.averaged_loss()};
  if (dynamic_rate_ > 0) {
    found.dynamic = dynamic(experiment, network, text);
    progress.advance(2);
  }
  if (bound_) {
    found.bound = bound(experiment, draws, network, text);
    progress.advance(static_cast<std::uint64_t>(draws.count()));
  }
  if (!shares_.empty()) {
    const WeightPruning pruning(network.weights());
    for (const double share : shares_) {
      const inference::Matrix<float> left = pruning.pruned(share);
      scorer.score(model, {left.view(), 0}, std::nullopt, log_probability);
      found.pruned.push_back(mean_loss(log_probability));
      progress.advance(1);
    }
  }
  if (entropy_) found.entropies = entropies(model, draws, text, progress);
  return found;
}

LanguageEvaluation::Dynamic LanguageEvaluation::dynamic(const LanguageExperiment& experiment,
                                                        training::TrainedNetwork& network,
                                                        const Stretches& text) const {
  const inference::Matrix<float> weights = network.weights().host_weights_now();
  const BareNetwork bare(spec_of(experiment, network), experiment.method().posterior.arithmetic, weights.row(0),
                         network.weights().posterior().weight_layout());
  TextScorer scorer(text, TextProtocol::stateful_1, 1, 1, "scored");
  std::vector<float> log_probability(static_cast<std::size_t>(scorer.tokens()));
  scorer.score(*bare.model, bare.row(), std::nullopt, log_probability);
  return {.moving = dynamic_loss(*bare.model, bare.weights, text,
                                 {.rate = dynamic_rate_, .unroll = experiment.training().unroll}),
          .still = mean_loss(log_probability)};
}

double LanguageEvaluation::bound(const LanguageExperiment& experiment, training::WeightDraws& draws,
                                 training::TrainedNetwork& network, const Stretches& text) const {
  const inference::NetworkPosteriorOptions& posterior = experiment.method().posterior;
  const LanguageTrainingOptions& run = experiment.training();
  inference::SharpenedModel<float> sharpened(network_without_dropout(spec_of(experiment, network), posterior.arithmetic,
                                                                     network.weights().particles().device()),
                                             posterior.sharpening);
  return sharpened_bound(sharpened, draws, text, {.rows = run.epochs.batch_size, .unroll = run.unroll},
                         static_cast<std::uint64_t>(weights_.seed));
}

LanguageEvaluation::Entropies LanguageEvaluation::entropies(inference::Model<float>& model,
                                                            training::WeightDraws& draws, const Stretches& text,
                                                            Progress& progress) {
  const TextUncertainty forward = text_uncertainty(model, draws, text);
  progress.advance(static_cast<std::uint64_t>(draws.count()));
  const TextUncertainty backward = text_uncertainty(model, draws, reversed(text));
  progress.advance(static_cast<std::uint64_t>(draws.count()));
  Entropies found{.averaged = mean_of_tokens(forward.entropy),
                  .single = mean_of_tokens(forward.mean_entropy),
                  .reversed = mean_of_tokens(backward.entropy)};
  for (std::size_t k = 0; k < forward.entropy_of_first.size(); ++k)
    found.gaps.push_back(backward.entropy_of_first[k] - forward.entropy_of_first[k]);
  return found;
}

LanguageEvaluation::ScoredText LanguageEvaluation::text_of(const LanguageExperiment& experiment,
                                                           const runs::SavedRun& saved,
                                                           const Vocabulary& vocabulary) const {
  if (!text_.empty()) {
    TokenizedText text = tokenize(read_text(text_), vocabulary, text_.string());
    if (text.tokens.size() < 2)
      fail(ErrorKind::data, "'{}' has {}: what is scored is every token but the first", text_.string(),
           runs::counted(std::ssize(text.tokens), "token"));
    return {.name = text_.filename().string(), .tokens = {std::move(text.tokens)}, .unknown = text.unknown};
  }
  Corpus corpus = experiment.read_text();
  runs::check_data_checksums(saved.manifest, corpus.checksums, "the data", "score another text by `text`");
  if (corpus.vocabulary != vocabulary)
    fail(ErrorKind::data, "'{}' has another vocabulary now than the run began with: score another text by `text`",
         corpus.name);
  if (part_ == Part::test)
    return {.name = corpus.name, .tokens = std::move(corpus.test), .unknown = corpus.unknown_test};
  return {.name = corpus.name, .tokens = std::move(corpus.validation), .unknown = corpus.unknown_validation};
}

Json LanguageEvaluation::perform_saved(const LanguageExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string&, const runs::Console& console) {
  STEIN_CHECK(!bound_ || experiment.method().posterior.sharpened,
              "option 'bound' is of posterior sharpening, the run's sampler is {}", experiment.method_name());
  experiment.check_dropout(weights_.dropout);
  STEIN_CHECK(text_.empty() || part_ == Part::test, "option 'part' is of the run's own text, and 'text' names another");
  shares_.clear();
  shares_ = training::shares_of("prune", prune_, {.low = 0, .high = 1, .high_open = true});
  console.progress->begin(experiment.name(), "passes over the text", 0);
  ScoredText text;
  std::optional<double> tokens_a_character;
  training::MethodKind kind{};
  std::vector<Worth> all;
  for (std::uint64_t seed = experiment.seeds().first; seed < experiment.seeds().end; ++seed) {
    training::TrainedNetwork network = experiment.trained_network(saved, seed, weights_.device);
    if (all.empty()) {
      const Vocabulary vocabulary = saved_vocabulary(network.meaning());
      text = text_of(experiment, saved, vocabulary);
      tokens_a_character = tokens_per_character(text.tokens, vocabulary);
      kind = network.weights().kind();
    }
    all.push_back(worth(experiment, network, text.tokens, *console.progress));
  }
  const Worth& first = all.front();
  Json result{{"data", text.name},
              {"protocol", first.protocol},
              {"tokens", first.tokens},
              {"unknown", text.unknown},
              {"samples", first.draws},
              {"single_sample", loss_json(of_each(all, &Worth::single), tokens_a_character)},
              {"averaged", loss_json(of_each(all, &Worth::averaged), tokens_a_character)}};
  const char* const weights = single_weights(kind, weights_.by);
  if (first.dynamic) {
    result["dynamic"] = loss_json(of_each(all, [](const Worth& w) { return w.dynamic->moving; }), tokens_a_character);
    result["dynamic"]["still"] =
        loss_json(of_each(all, [](const Worth& w) { return w.dynamic->still; }), tokens_a_character);
    result["dynamic"].update({{"protocol", protocol_name(TextProtocol::stateful_1, 1, 1)}, {"weights", weights}});
  }
  if (first.bound) {
    const training::EpochOptions& epochs = experiment.training().epochs;
    result["bound"] = loss_json(of_each(all, [](const Worth& w) { return *w.bound; }), tokens_a_character);
    result["bound"]["protocol"] =
        protocol_name(TextProtocol::stateful, epochs.batch_size, experiment.training().unroll);
  }
  for (std::size_t k = 0; k < shares_.size(); ++k) {
    Json row = loss_json(of_each(all, [k](const Worth& w) { return w.pruned[k]; }), tokens_a_character);
    row.update({{"share", shares_[k]}, {"weights", weights}});
    result["pruned"].push_back(std::move(row));
  }
  if (first.entropies) result.update(entropies_json(all));
  return result;
}

Json LanguageEvaluation::entropies_json(const std::vector<Worth>& seeds) {
  const auto each = [&](const auto& value) {
    return runs::measured(of_each(seeds, [&](const Worth& w) { return value(*w.entropies); }));
  };
  Json gaps = Json::array();
  for (std::size_t k = 0; k < seeds.front().entropies->gaps.size(); ++k)
    gaps.push_back(each([k](const Entropies& e) { return e.gaps[k]; }));
  return {{"entropy",
           {{"text", each([](const Entropies& e) { return e.averaged; })},
            {"single_samples", each([](const Entropies& e) { return e.single; })},
            {"reversed", each([](const Entropies& e) { return e.reversed; })},
            {"gap", each([](const Entropies& e) { return e.reversed - e.averaged; })},
            {"protocol", protocol_name(TextProtocol::stateful_1, 1, 1)}}},
          {"gap_of_first", std::move(gaps)}};
}

std::string LanguageEvaluation::readable(const Json& result) const {
  const auto line = [](const char* name, const Json& score) {
    return runs::summary_line(name, runs::mean_and_deviation(score["perplexity"]));
  };
  const auto samples = result["samples"].get<std::int64_t>();
  std::string text = fmt::format("{}, {} tokens ({}), perplexity\n", result["data"].get<std::string>(),
                                 result["tokens"].get<std::int64_t>(), result["protocol"].get<std::string>());
  if (const auto unknown = result["unknown"].get<std::int64_t>(); unknown > 0)
    text += fmt::format("  {} of its words are not in the vocabulary and stand as {}\n", unknown, unknown_word);
  if (samples > 1) text += line("one sample", result["single_sample"]);
  text += line(samples > 1 ? fmt::format("averaged over {}", samples).c_str() : "score", result["averaged"]);
  if (result.contains("dynamic"))
    text += line("dynamic evaluation", result["dynamic"]) + line("weights stay", result["dynamic"]["still"]) +
            fmt::format("    ({}, of the weights: {})\n", result["dynamic"]["protocol"].get<std::string>(),
                        result["dynamic"]["weights"].get<std::string>());
  if (result.contains("bound")) {
    text += line("sharpened, at most", result["bound"]) +
            fmt::format("    ({})\n", result["bound"]["protocol"].get<std::string>());
    constexpr double far = 1;  // nats a token
    if (runs::mean_of(result["bound"]["loss"]) > runs::mean_of(result["averaged"]["loss"]) + far)
      text +=
          "    (far above the text's own score: the steps to the minibatch are too long; a shorter step_size or a\n"
          "    smaller rate_scale helps)\n";
  }
  const Json pruned = result.value("pruned", Json::array());
  for (const Json& row : pruned)
    text += line(fmt::format("{:g} % pruned", 100 * row["share"].get<double>()).c_str(), row);
  if (!pruned.empty()) text += fmt::format("    (of the weights: {})\n", pruned[0]["weights"].get<std::string>());
  if (result.contains("entropy"))
    for (const auto& [key, name] : {std::pair("text", "entropy"), std::pair("single_samples", "of one sample"),
                                    std::pair("reversed", "of reversed text"), std::pair("gap", "entropy gap")})
      text += runs::summary_line(name, runs::text(result["entropy"][key], "{:.4f}") + " nats");
  return text;
}

}  // namespace stein::lm
