#include <stein/core/error.h>
#include <stein/replay/log_facts.h>

#include <algorithm>
#include <cmath>

namespace stein::replay {
namespace {

constexpr double bins_per_decade = 4, uniform_tolerance = 1e-3;

}  // namespace

EstimatorTerms uniform_terms(const LoggedEvent& event) {
  const double weight = event.weight / (event.propensity * static_cast<double>(event.choices()));
  return {.numerator = weight * event.reward, .denominator = weight, .weight = weight};
}

double LogFacts::bin_end(std::int64_t bin) {
  return std::pow(10, static_cast<double>(bin + 1 - bins) / bins_per_decade);
}

void LogFacts::add(const LoggedEvent& event) {
  for (const std::int32_t arm : event.present) {
    if (static_cast<std::size_t>(arm) >= arms_.size()) arms_.resize(static_cast<std::size_t>(arm) + 1);
    Arm& there = arms_[static_cast<std::size_t>(arm)];
    if (there.first < 0) there.first = events_;
    there.last = events_;
  }
  Arm& chosen = arms_[static_cast<std::size_t>(event.action)];
  ++chosen.pulls;
  chosen.reward += event.reward;
  ++events_;
  reward_ += event.reward;
  certain_ += event.propensity == 1 && event.choices() > 1;

  const EstimatorTerms terms = uniform_terms(event);
  const double weight = terms.weight / event.weight;  // what it stands for does not make a log less uniform
  uniform_ = uniform_ && std::abs(weight - 1) <= uniform_tolerance;
  uniform_value_.add(terms);
  uniform_weights_.add(weight);
  const double bin = std::ceil(bins_per_decade * std::log10(event.propensity)) + static_cast<double>(bins - 1);
  ++propensities_[static_cast<std::size_t>(std::clamp<double>(bin, 0, bins - 1))];
}

void LogFacts::save(Snapshot& snapshot) const {
  Snapshot value, weights;
  uniform_value_.save(value), uniform_weights_.save(weights);
  snapshot.put_part("uniform_value", value), snapshot.put_part("uniform_weights", weights);
  snapshot.put("events", events_);
  snapshot.put("certain", certain_);
  snapshot.put("reward", reward_);
  snapshot.put("uniform", static_cast<std::int64_t>(uniform_));
  snapshot.put("propensities", std::span<const std::int64_t>(propensities_));
  std::vector<std::int64_t> counts;
  std::vector<double> rewards;
  for (const Arm& arm : arms_) {
    counts.insert(counts.end(), {arm.first, arm.last, arm.pulls});
    rewards.push_back(arm.reward);
  }
  snapshot.put("arms", counts);
  snapshot.put("arm_rewards", rewards);
}

void LogFacts::restore(const Snapshot& snapshot) {
  uniform_value_.restore(snapshot.part("uniform_value"));
  uniform_weights_.restore(snapshot.part("uniform_weights"));
  events_ = snapshot.get_scalar<std::int64_t>("events");
  certain_ = snapshot.get_scalar<std::int64_t>("certain");
  reward_ = snapshot.get_scalar<double>("reward");
  uniform_ = snapshot.get_scalar<std::int64_t>("uniform") != 0;
  snapshot.get("propensities", std::span<std::int64_t>(propensities_));
  const auto counts = snapshot.get_vector<std::int64_t>("arms");
  const auto rewards = snapshot.get_vector<double>("arm_rewards");
  if (counts.size() != 3 * rewards.size())
    fail(ErrorKind::data, "the saved facts of a log have {} counts for {} arms", counts.size(), rewards.size());
  arms_.clear();
  for (std::size_t a = 0; a < rewards.size(); ++a)
    arms_.push_back({counts[3 * a], counts[3 * a + 1], counts[3 * a + 2], rewards[a]});
}

}  // namespace stein::replay
