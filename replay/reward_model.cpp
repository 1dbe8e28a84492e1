#include <stein/replay/reward_model.h>

#include <algorithm>

namespace stein::replay {

RewardModel::RewardModel(const envs::BanditSpec& spec) : regressions_(spec, {.intercept = true, .prior_precision = 1}) {
  const double width = spec.reward_high - spec.reward_low;
  if (spec.bounded) low_ = spec.reward_low - width, high_ = spec.reward_high + width;
}

void RewardModel::take(const LoggedEvent& event, std::vector<double>& predictions) {
  for (const auto& prediction : regressions_.predict(event.context()))
    predictions.push_back(std::clamp(prediction.mean, low_, high_));
  regressions_.observe(event.context(), event.action, event.reward);
}

}  // namespace stein::replay
