#include <stein/bench/torch/tensor_neural_linear.h>
#include <stein/torch/tensor_view.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <cmath>

namespace stein::bench {

using namespace stein::inference;

TensorNeuralLinear::TensorNeuralLinear(const MlpSpec& network, const Particles<float>& start, const Prior& prior)
    : particles_(start), model_(network), adam_(start), prior_(prior) {
  for (const LayoutEntry& entry : particles_.layout().entries())
    weights_.push_back(entry_view(particles_.values(), entry)[0]);
  const EigenRegressions eigen = eigen_regressions();
  const std::int64_t columns = network.hidden.back() + 1;
  for (std::int64_t arm = 0; arm < network.outputs; ++arm)
    regressions_.push_back(eigen.normal_equations(columns, prior.precision));
  counts_.resize(regressions_.size());
  row_.resize(static_cast<std::size_t>(columns), 1);
}

at::Tensor TensorNeuralLinear::hidden(const at::Tensor& first) const {
  at::Tensor layer = first.relu_();
  for (std::size_t i = 2; i + 2 < weights_.size(); i += 2)
    layer = at::addmm(weights_[i + 1], layer, weights_[i]).relu_();
  return layer;
}

void TensorNeuralLinear::load_features(const at::Tensor& active) {
  const at::Tensor features = hidden(weights_[0].index_select(0, active).sum(0, true).add_(weights_[1]));
  std::copy_n(features.data_ptr<float>(), features.numel(), row_.begin());
}

TensorNeuralLinear::Posterior TensorNeuralLinear::posterior_of_row(std::int64_t arm) {
  const auto i = static_cast<std::size_t>(arm);
  const auto [mean, leverage] = regressions_[i]->predict(row_.data());
  const double shape = prior_.shape + counts_[i] / 2, rate = prior_.rate + regressions_[i]->squares() / 2;
  return {.degrees = 2 * shape, .location = mean, .scale = std::sqrt(rate / shape * leverage)};
}

TensorNeuralLinear::Posterior TensorNeuralLinear::posterior(const at::Tensor& active, std::int64_t arm) {
  const c10::InferenceMode no_autograd;
  load_features(active);
  return posterior_of_row(arm);
}

std::vector<float> TensorNeuralLinear::features(const at::Tensor& active) {
  const c10::InferenceMode no_autograd;
  load_features(active);
  return {row_.begin(), row_.end() - 1};
}

std::int64_t TensorNeuralLinear::decide(const at::Tensor& active) {
  const c10::InferenceMode no_autograd;
  load_features(active);
  std::int64_t best = 0;
  double largest = -HUGE_VAL;
  for (std::int64_t arm = 0; arm < std::ssize(regressions_); ++arm) {
    const Posterior reward = posterior_of_row(arm);
    const double chi_square = std::gamma_distribution<double>(reward.degrees / 2, 2)(generator_);
    const double draw = reward.location + reward.scale * normal_(generator_) * std::sqrt(reward.degrees / chi_square);
    if (draw > largest) largest = draw, best = arm;
  }
  return best;
}

void TensorNeuralLinear::learn(const Batch<float>& batch) {
  model_.log_likelihood(particles_.coordinates(), batch, {}, {.gradient = particles_.gradients()});
  const c10::NoGradGuard no_gradient;
  at::Tensor values = tensor_view(particles_.values()), gradients = tensor_view(particles_.gradients());
  adam_.step(values, gradients.sub_(values));  // the prior
}

void TensorNeuralLinear::observe(const at::Tensor& active, std::int64_t arm, double reward) {
  const c10::InferenceMode no_autograd;
  load_features(active);
  regressions_[static_cast<std::size_t>(arm)]->observe(row_.data(), reward);
  counts_[static_cast<std::size_t>(arm)] += 1;
}

void TensorNeuralLinear::revisit(const at::Tensor& contexts, const at::Tensor& arms, const at::Tensor& rewards) {
  const c10::InferenceMode no_autograd;
  const at::Tensor features = hidden(at::addmm(weights_[1], contexts, weights_[0])).to(at::kDouble);
  const at::Tensor rows = at::cat({features, at::ones({features.size(0), 1}, features.options())}, 1);
  for (std::size_t arm = 0; arm < regressions_.size(); ++arm) {
    const at::Tensor own = (arms == static_cast<std::int64_t>(arm)).nonzero().flatten();
    const at::Tensor own_rows = rows.index_select(0, own), own_rewards = rewards.index_select(0, own);
    regressions_[arm]->regress(own_rows.data_ptr<double>(), own_rewards.data_ptr<double>(), own.size(0));
    counts_[arm] = static_cast<double>(own.size(0));
  }
}

}  // namespace stein::bench
