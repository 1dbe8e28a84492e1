#include <stein/lm/evaluation/held_text.h>
#include <stein/training/weight_draws.h>

namespace stein::lm {

using inference::MatrixView;
using inference::Selection;
using training::MethodKind;

namespace {

/// Whether what is scored in the end are draws, or particles one by one.
bool is_drawn(const training::NetworkWeights& weights) {
  return weights.kind() == MethodKind::variational || weights.kind() == MethodKind::ensemble;
}

}  // namespace

void HeldText::take_sample(training::NetworkWeights& weights) {
  inference::Matrix<float> memory;
  score_rows(weights.posterior().model(), weights.draw_weights({}, memory));
  samples_.add(log_probability_);
}

void HeldText::score_rows(inference::Model<float>& model, MatrixView<const float> rows) {
  const auto tokens = static_cast<std::size_t>(samples_.tokens());
  log_probability_.resize(tokens);
  if (rows.rows == 1) return score_(model, {rows, 0}, log_probability_);
  SampledProbabilities each(samples_.tokens());
  row_probability_.resize(tokens);
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    score_(model, {rows.block(i, 1), i}, row_probability_);
    each.add(row_probability_);
  }
  log_probability_ = each.averaged();
}

double HeldText::loss_of_weights(training::NetworkWeights& weights) {
  inference::Matrix<float> memory;  // as large as the weights: not kept
  score_rows(weights.posterior().model(), weights.weights_now(memory));
  return mean_loss(log_probability_);
}

std::int64_t HeldText::passes(const training::NetworkWeights& weights, std::int64_t draws) {
  if (!is_drawn(weights)) return 1;
  return 1 + (weights.kind() == MethodKind::ensemble ? weights.particles().rows() : draws);
}

TextLosses HeldText::losses(training::NetworkWeights& weights, std::int64_t draws, std::uint64_t seed,
                            const Watch& watch) {
  TextLosses found{.protocol = protocol_, .tokens = samples_.tokens()};
  found.final_weights = loss_of_weights(weights);
  watch.advance();
  SampledProbabilities samples = samples_;
  if (is_drawn(weights)) {
    training::WeightDraws each(weights, {.draws = draws, .seed = seed}, {}, 0);
    for (std::int64_t k = 0; k < each.count() && !watch.stop_requested(); ++k) {
      score_(weights.posterior().model(), each.get(k).weights, log_probability_);
      samples.add(log_probability_);
      watch.advance();
    }
  }
  if (watch.stop_requested()) return found;
  if (samples.samples() == 0) {
    found.single = found.averaged = found.final_weights;
  } else {
    found.samples = samples.samples();
    found.single = samples.single_loss();
    found.averaged = samples.averaged_loss();
    found.curves = training::AverageCurves::of(
        [&](Selection which, std::int64_t at_most) { return samples.curve(which, at_most); });
  }
  return found;
}

}  // namespace stein::lm
