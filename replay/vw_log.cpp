#include <stein/core/error.h>
#include <stein/replay/vw_log.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::replay {

VwLog::VwLog(std::string name, std::string source, const Options& options) : options_(checked(options)) {
  STEIN_CHECK(options_.reward_low < options_.reward_high, "reward_low = {} is not below reward_high = {}",
              options_.reward_low, options_.reward_high);
  spec_ = {.name = std::move(name),
           .context_size = options_.shared_features,
           .arm_features = options_.action_features,
           .reward_low = options_.reward_low,
           .reward_high = options_.reward_high,
           .bounded = true,
           .data = "real",
           .source = std::move(source)};
  shared_use_ = ColumnUse(options_.shared_features);
  action_use_ = ColumnUse(options_.action_features);
}

std::vector<std::string> VwLog::warnings() const {
  return {crowd_warning(shared_use_, "features that all actions share", "shared_features"),
          crowd_warning(action_use_, "features of actions", "action_features")};
}

void VwLog::save(Snapshot& snapshot) const {
  Snapshot shared, action;
  shared_use_.save(shared), action_use_.save(action);
  snapshot.put_part("shared_use", shared), snapshot.put_part("action_use", action);
}

void VwLog::restore(const Snapshot& snapshot) {
  shared_use_.restore(snapshot.part("shared_use"));
  action_use_.restore(snapshot.part("action_use"));
}

std::string_view VwLog::take_outcome(const Outcome& outcome, LoggedEvent& event) const {
  event.propensity = outcome.probability;
  if (!(event.propensity > 0 && event.propensity <= 1)) return "a probability that is not in (0, 1]";
  event.reward = options_.reward_per_cost * outcome.cost + 0.0;  // no negative zero
  if (!(event.reward >= options_.reward_low && event.reward <= options_.reward_high))
    return "a reward that is not between `reward_low` and `reward_high`";
  return {};
}

std::string_view VwLog::take_arms(const std::vector<std::string_view>& names, ArmTable& arms, LoggedEvent& event) {
  if (names.empty()) return "no actions to choose from";
  if (std::ssize(names) > arms.most()) return "more actions than the option `arms` allows";
  return arms.number_all(names, event.present) ? "" : "an action twice";
}

bool VwLog::is_finite(const LoggedEvent& event) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::ranges::all_of(event.dense, finite) && std::ranges::all_of(event.arm_features, finite);
}

std::string_view VwLog::name_of_place(std::size_t place) {
  while (places_.size() <= place) places_.push_back(std::to_string(places_.size() + 1));
  return places_[place];
}

}  // namespace stein::replay
