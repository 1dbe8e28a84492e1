#include <stein/core/error.h>
#include <stein/lm/captioning/caption_scorer.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace stein::lm {
namespace {

/// Captions that are scored together.
constexpr std::size_t together = 32;

}  // namespace

CaptionScorer::CaptionScorer(std::vector<CaptionSequence> captions, inference::MatrixView<const float> features)
    : captions_(std::move(captions)), features_(features), begins_{0}, order_(captions_.size()) {
  STEIN_CHECK(!captions_.empty(), "there is no caption to score");
  for (const CaptionSequence& caption : captions_) begins_.push_back(begins_.back() + std::ssize(caption.tokens));
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, {},
                           [this](std::int64_t i) { return captions_[static_cast<std::size_t>(i)].tokens.size(); });
}

void CaptionScorer::score(inference::Model<float>& model, const inference::ParticleRows<const float>& weights,
                          std::span<float> log_probability) {
  STEIN_CHECK(std::ssize(log_probability) == tokens(), "expected room for {} tokens, got {}", tokens(),
              log_probability.size());
  const auto network = model.predictor(weights);
  for (std::size_t first = 0; first < order_.size(); first += together) {
    const std::span chosen = std::span(order_).subspan(first, std::min(together, order_.size() - first));
    batch_.fill(captions_, chosen, features_);
    logits_.resize(batch_.targets.size() * static_cast<std::size_t>(model.output_count()));
    scored_.resize(batch_.targets.size());
    const inference::MatrixView<float> logits{logits_.data(), std::ssize(batch_.targets), model.output_count()};
    network->log_probabilities(batch_.inputs(), batch_.targets, logits, scored_);
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const std::int64_t length = std::ssize(captions_[static_cast<std::size_t>(chosen[b])].tokens);
      std::copy_n(scored_.begin() + static_cast<std::int64_t>(b) * batch_.steps, length,
                  log_probability.begin() + begin_of(chosen[b]));
    }
  }
}

}  // namespace stein::lm
