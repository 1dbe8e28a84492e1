#include <stein/lm/language/text_prediction.h>

#include <algorithm>
#include <cmath>

namespace stein::lm {
namespace {

/// Replaces logits by probabilities.
void softmax(std::span<const float> logits, std::span<double> probabilities) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (std::size_t k = 0; k < logits.size(); ++k) sum += probabilities[k] = std::exp(double{logits[k]} - most);
  for (double& p : probabilities) p /= sum;
}

inference::Inputs<float> one_token(const std::int32_t& token) {
  inference::Inputs<float> inputs;
  inputs.tokens = {&token, 1, 1};
  return inputs;
}

}  // namespace

TextPrediction::TextPrediction(inference::Model<float>& model, training::WeightDraws& draws) : weights_(draws.all()) {
  const std::int32_t any = 0;
  const std::int64_t size = model.carried_size(one_token(any));
  for (std::int64_t k = 0; k < draws.count(); ++k) {
    networks_.push_back(model.predictor({weights_.view().block(k, 1), k}));
    dropout_.push_back(draws.dropout(k));
    states_.emplace_back(1, size, model.device());
  }
  const auto words = static_cast<std::size_t>(model.output_count());
  logits_.resize(words), average_.resize(words), each_.resize(words * dropout_.size());
}

void TextPrediction::reset() {
  for (auto& state : states_) state.reset();
  read_ = 0;
}

std::span<const double> TextPrediction::probabilities(std::int64_t k) const {
  return std::span(each_).subspan(static_cast<std::size_t>(k) * average_.size(), average_.size());
}

void TextPrediction::read(std::int32_t token) {
  std::ranges::fill(average_, 0.0);
  for (std::size_t k = 0; k < dropout_.size(); ++k) {
    inference::Inputs<float> inputs = one_token(token);
    inputs.carried = states_[k].rows();
    inputs.dropout = training::piece_key(dropout_[k], read_);
    networks_[k]->predict(inputs, {logits_.data(), 1, std::ssize(logits_)});
    inputs.carried.accept();
    const std::span<double> own = std::span(each_).subspan(k * average_.size(), average_.size());
    softmax(logits_, own);
    for (std::size_t w = 0; w < own.size(); ++w) average_[w] += own[w] / static_cast<double>(dropout_.size());
  }
  ++read_;
}

}  // namespace stein::lm
