#include <stein/policies/largest_bound.h>

#include <algorithm>

namespace stein::policies {

Decision choose_largest(const envs::Context& context, std::span<const double> bounds, const NoiseKey& key,
                        Propensities wanted, std::vector<double>& propensities) {
  double largest = bounds.front();
  for (const double bound : bounds) largest = std::max(largest, bound);  // without a branch, unlike max_element
  const auto best = std::ranges::find(bounds, largest);
  const bool alone = std::find(best + 1, bounds.end(), largest) == bounds.end();
  Decision decision{.action = context.arm(best - bounds.begin()), .deterministic = alone};
  if (alone && wanted == Propensities::none) return decision;
  const double share = alone ? 1 : 1.0 / static_cast<double>(std::ranges::count(bounds, largest));
  propensities.resize(bounds.size());
  for (std::size_t place = 0; place < bounds.size(); ++place)
    propensities[place] = bounds[place] == largest ? share : 0.0;
  if (!alone) {
    Draws draws(key, 0);
    decision.action = context.arm(static_cast<std::int64_t>(draws.categorical(propensities)));
  }
  if (wanted == Propensities::exact) decision.propensities = propensities;
  return decision;
}

}  // namespace stein::policies
