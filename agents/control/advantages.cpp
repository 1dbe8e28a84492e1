#include <stein/agents/control/advantage_step.h>
#include <stein/agents/control/advantages.h>
#include <stein/core/error.h>

#include <cmath>

namespace stein::agents {
namespace {

/// Σ (x − mean)² over the entries whose `scale` is not 0.
double squared_deviations(std::span<const float> values, std::span<const float> scale) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (scale[i] != 0) count += 1, sum += double{values[i]};
  const double mean = count > 0 ? sum / count : 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (scale[i] != 0) squares += std::pow(double{values[i]} - mean, 2);
  return squares;
}

}  // namespace

void generalised_advantages(const StepsOfSlots& steps, double discount, double lambda, std::span<float> advantages) {
  const std::size_t count = steps.rewards.size();
  STEIN_CHECK(steps.slots >= 1 && count % static_cast<std::size_t>(steps.slots) == 0 && steps.values.size() == count &&
                  steps.next_values.size() == count && steps.ends.size() == count && advantages.size() == count,
              "advantages: expected whole steps of {} slots in every span, got {} rewards, {} values, {} next values, "
              "{} ends and {} advantages",
              steps.slots, count, steps.values.size(), steps.next_values.size(), steps.ends.size(), advantages.size());
  STEIN_CHECK(discount >= 0 && discount <= 1 && lambda >= 0 && lambda <= 1,
              "advantages: expected a discount and a lambda in [0, 1], got {} and {}", discount, lambda);
  const auto slots = static_cast<std::size_t>(steps.slots);
  const AdvantageStep step = AdvantageStep::of(discount, lambda);
  for (std::size_t i = count; i-- > 0;) {
    const float after = i + slots < count ? advantages[i + slots] : 0;
    advantages[i] = step(steps.rewards[i], steps.values[i], steps.next_values[i], steps.ends[i], after);
  }
}

void standardise(std::span<float> values, std::span<const float> scale) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (scale[i] != 0) count += 1, sum += double{values[i]};
  const double mean = count > 0 ? sum / count : 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (scale[i] != 0) squares += std::pow(double{values[i]} - mean, 2);
  const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
  const double factor = deviation > 1e-8 ? 1 / deviation : 1;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = scale[i] != 0 ? static_cast<float>((double{values[i]} - mean) * factor) : 0;
}

double explained_variance(std::span<const float> targets, std::span<const float> residuals,
                          std::span<const float> scale) {
  const double whole = squared_deviations(targets, scale);
  return whole > 0 ? 1 - squared_deviations(residuals, scale) / whole : 0;
}

}  // namespace stein::agents
