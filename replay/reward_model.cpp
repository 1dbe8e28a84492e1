#include <stein/replay/reward_model.h>

#include <algorithm>
#include <limits>

namespace stein::replay {

RewardModel::RewardModel(const envs::BanditSpec& spec)
    : low_(spec.bounded ? spec.reward_low : std::numeric_limits<double>::lowest()),
      high_(spec.bounded ? spec.reward_high : std::numeric_limits<double>::max()),
      regressions_(spec, {.intercept = true, .prior_precision = 1}) {}

void RewardModel::take(const LoggedEvent& event, std::vector<double>& predictions) {
  for (const auto& prediction : regressions_.predict(event.context()))
    predictions.push_back(std::clamp(prediction.mean, low_, high_));
  regressions_.observe(event.context(), event.action, event.reward);
}

}  // namespace stein::replay
