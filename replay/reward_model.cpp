#include <stein/replay/reward_model.h>

namespace stein::replay {

RewardModel::RewardModel(const envs::BanditSpec& spec)
    : regressions_(spec, {.intercept = true, .prior_precision = 1}) {}

void RewardModel::take(const LoggedEvent& event, std::vector<double>& predictions) {
  for (const auto& prediction : regressions_.predict(event.context())) predictions.push_back(prediction.mean);
  regressions_.observe(event.context(), event.action, event.reward);
}

}  // namespace stein::replay
