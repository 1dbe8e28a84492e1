#include <stein/core/error.h>
#include <stein/envs/action_bounds.h>
#include <stein/envs/fused/bookkeeping.h>

#include <algorithm>
#include <cmath>

namespace stein::envs {

ControlOptions ControlOptions::of(const ControlSpec& spec) const {
  ControlOptions options = *this;
  if (options.horizon == 0) options.horizon = spec.horizon;
  STEIN_CHECK(options.horizon != 0, "{}: expected a horizon of at least 1 step in its specification, got {}", spec.name,
              spec.horizon);
  return checked(options);
}

ActionBounds::ActionBounds(const ControlSpec& spec, const ControlOptions& options)
    : name_(spec.name),
      actions_(spec.action),
      choices_(spec.choices),
      maps_(options.normalize_actions),
      clips_(options.clip_actions) {
  STEIN_CHECK(!maps_ || !spec.discrete(),
              "option 'normalize_actions': the actions of {} are choices, there is nothing to normalise", name_);
  if (!maps_) return;
  for (const Quantity& action : actions_)
    STEIN_CHECK(std::isfinite(action.low) && std::isfinite(action.high),
                "option 'normalize_actions': the action '{}' of {} has no bounds to map to", action.name, name_);
}

bool ActionBounds::allow(std::span<const float> actions) const {
  if (choices_ > 0) return fused::all_choices(actions, choices_);
  if (clips_) return fused::all_finite(actions);
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    const float low = maps_ ? -1 : static_cast<float>(actions_[a].low);
    const float high = maps_ ? 1 : static_cast<float>(actions_[a].high);
    if (!fused::all_within(actions.subspan(a), width(), low, high)) return false;
  }
  return true;
}

template <class Real>
void ActionBounds::check(std::span<const Real> actions, std::int64_t first_slot, std::int64_t step) const {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const double value = actions[i];
    const Quantity& range = actions_[i % actions_.size()];
    const std::int64_t slot = first_slot + static_cast<std::int64_t>(i / actions_.size());
    if (!std::isfinite(value))
      fail(ErrorKind::numeric, "{}: the action '{}' of slot {} is {} at step {}", name_, range.name, slot, value, step);
    if (choices_ > 0) {
      STEIN_CHECK(value == std::floor(value) && value >= 0 && value < static_cast<double>(choices_),
                  "{}: expected a choice from 0 to {}, got {} in slot {} at step {}", name_, choices_ - 1, value, slot,
                  step);
      continue;
    }
    // In the numbers that an agent has: a float at its bound is inside.
    const double low = maps_ ? -1 : static_cast<Real>(range.low), high = maps_ ? 1 : static_cast<Real>(range.high);
    STEIN_CHECK(clips_ || (value >= low && value <= high),
                "{}: expected an action '{}' in [{}, {}], got {} in slot {} at step {}; 'clip_actions' would limit it",
                name_, range.name, maps_ ? -1 : range.low, maps_ ? 1 : range.high, value, slot, step);
  }
}

template <class Real>
void ActionBounds::map(std::span<const Real> actions, std::span<Real> given) const {
  const std::size_t size = actions_.size();
  for (std::size_t a = 0; a < size; ++a) {
    const auto low = static_cast<Real>(actions_[a].low), high = static_cast<Real>(actions_[a].high);
    const Real half = (high - low) / 2, middle = (high + low) / 2;
    for (std::size_t i = a; i < actions.size(); i += size) given[i] = std::clamp(middle + half * actions[i], low, high);
  }
}

void ActionBounds::effective(std::span<const float> actions, std::span<float> acted) const {
  if (maps_) return map(actions, acted);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Quantity& range = actions_[i % actions_.size()];
    acted[i] = std::clamp(actions[i], static_cast<float>(range.low), static_cast<float>(range.high));
  }
}

template void ActionBounds::check<float>(std::span<const float>, std::int64_t, std::int64_t) const;
template void ActionBounds::check<double>(std::span<const double>, std::int64_t, std::int64_t) const;
template void ActionBounds::map<float>(std::span<const float>, std::span<float>) const;
template void ActionBounds::map<double>(std::span<const double>, std::span<double>) const;

}  // namespace stein::envs
