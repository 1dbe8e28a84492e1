#include <stein/agents/control/policy_objective.h>
#include <stein/core/error.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stein::agents {
namespace {

using inference::MatrixView;

constexpr std::int64_t block = 128;  // rows whose weights are made at a time

}  // namespace

PolicyObjective::PolicyObjective(const policies::ActionDistribution& distribution, double entropy_weight,
                                 double clip_ratio)
    : distribution_(distribution),
      entropy_weight_(static_cast<float>(entropy_weight)),
      clip_ratio_(static_cast<float>(clip_ratio)) {
  STEIN_CHECK(clip_ratio >= 0, "policy objective: expected a clip ratio of at least 0, got {}", clip_ratio);
}

double PolicyObjective::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                              std::span<const float> constants, MatrixView<float> gradient,
                              std::span<float> constant_gradient) const {
  std::array<float, block> density, weight, entropy;
  for (std::int64_t begin = 0; begin < outputs.rows; begin += block) {
    const std::int64_t count = std::min(block, outputs.rows - begin);
    const auto n = static_cast<std::size_t>(count);
    const std::int64_t place = particle * rows_.rows + first + begin;
    const policies::ActionDistribution::Parameters parameters{outputs.block(begin, count), constants};
    const MatrixView<const float> actions = rows_.actions.block(place, count);
    if (clip_ratio_ > 0) distribution_.log_density(parameters, actions, {density.data(), n});
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(place) + i;
      const float advantage = rows_.advantages[at], scale = rows_.scale[at];
      entropy[i] = scale * entropy_weight_;
      weight[i] = scale * advantage;
      if (clip_ratio_ == 0) continue;
      const float log_ratio = density[i] - rows_.log_density[at];
      if (!rows_.log_ratio.empty()) rows_.log_ratio[at] = log_ratio;
      const float ratio = std::exp(std::min(log_ratio, 20.0F));
      const float limited = std::clamp(ratio, 1 - clip_ratio_, 1 + clip_ratio_);
      // Where the limited term is the smaller one, it does not change with π.
      weight[i] *= limited * advantage < ratio * advantage ? 0 : ratio;
    }
    distribution_.gradient(parameters, actions, {weight.data(), n}, {entropy.data(), n}, gradient.block(begin, count),
                           constant_gradient);
  }
  return 0;
}

double ValueObjective::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                             std::span<const float>, MatrixView<float> gradient, std::span<float>) const {
  double sum = 0;
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    const auto at = static_cast<std::size_t>(particle * rows_.rows + first + i);
    const float error = rows_.targets[at] - outputs(i, 0);
    gradient(i, 0) = rows_.scale[at] * error;
    sum -= 0.5 * double{rows_.scale[at]} * double{error} * double{error};
  }
  return sum;
}

}  // namespace stein::agents
