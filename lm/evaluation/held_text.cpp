#include <stein/lm/evaluation/held_text.h>
#include <stein/training/predictive_agreement.h>
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

void TextLosses::save(Snapshot& snapshot) const {
  snapshot.put_text("protocol", protocol);
  snapshot.put("counts", std::vector<std::int64_t>{tokens, samples});
  snapshot.put("losses", std::vector<double>{single, averaged, final_weights});
  if (chosen) snapshot.put("chosen", *chosen);
  curves.save(snapshot);
  if (agreement) snapshot.put_saved("agreement", *agreement);
}

void TextLosses::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  const auto losses = snapshot.get_vector<double>("losses");
  *this = {.protocol = snapshot.get_text("protocol"),
           .tokens = counts.at(0),
           .samples = counts.at(1),
           .single = losses.at(0),
           .averaged = losses.at(1),
           .final_weights = losses.at(2)};
  curves.restore(snapshot);
  if (snapshot.contains("chosen")) chosen = snapshot.get_scalar<double>("chosen");
  if (snapshot.contains("agreement/counts")) agreement.emplace().restore(snapshot.part("agreement"));
}

void HeldText::take_sample(training::NetworkWeights& weights) {
  inference::Matrix<float> memory;
  const MatrixView<const float> chains = weights.draw_weights({}, memory);
  log_probability_.resize(static_cast<std::size_t>(samples_.tokens()));
  for (std::int64_t i = 0; i < chains.rows; ++i) {
    score_(weights.posterior().model(), {chains.block(i, 1), i}, log_probability_);
    samples_.add(log_probability_);
  }
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
                            std::int64_t step, const Watch& watch) {
  TextLosses found{.protocol = protocol_, .tokens = samples_.tokens()};
  found.final_weights = loss_of_weights(weights);
  watch.advance();
  if (is_drawn(weights)) {
    training::WeightDraws each(weights, {.draws = draws, .seed = seed}, {}, 0);
    if (draws_step_ != step || draws_.samples() > each.count()) forget_draws();
    draws_step_ = step;
    watch.advance(static_cast<std::uint64_t>(draws_.samples()));
    watch.keep();
    while (draws_.samples() < each.count() && !watch.stop_requested()) {
      score_(weights.posterior().model(), each.get(draws_.samples()).weights, log_probability_);
      draws_.add(log_probability_);
      watch.advance();
      watch.keep();
    }
  }
  if (watch.stop_requested()) return found;
  const SampledProbabilities& samples = is_drawn(weights) ? draws_ : samples_;
  if (samples.samples() == 0) {
    found.single = found.averaged = found.final_weights;
  } else {
    found.samples = samples.samples();
    found.single = samples.single_loss();
    found.averaged = samples.averaged_loss();
    found.curves = training::AverageCurves::of(
        [&](Selection which, std::int64_t at_most) { return samples.curve(which, at_most); });
    found.agreement = training::predictive_agreement(weights, samples);
  }
  return found;
}

void HeldText::save(Snapshot& snapshot) const {
  samples_.save(snapshot);
  if (draws_.samples() == 0) return;
  snapshot.put_saved("draws", draws_);
  snapshot.put("draws_step", draws_step_);
}

void HeldText::restore(const Snapshot& snapshot) {
  samples_.restore(snapshot);
  forget_draws();
  if (!snapshot.contains("draws_step")) return;
  draws_.restore(snapshot.part("draws"));
  draws_step_ = snapshot.get_scalar<std::int64_t>("draws_step");
}

}  // namespace stein::lm
