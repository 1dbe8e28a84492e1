#include <stein/policies/reward_unit.h>

#include <cmath>

namespace stein::policies {

void RewardUnit::observe(double reward) {
  if (known_) return;
  const auto single = static_cast<float>(reward);
  rewards_.add({&single, 1, 1});
}

double RewardUnit::value() const {
  if (known_) return *known_;
  const double variance = rewards_.variance(0);
  return variance > 0 ? std::sqrt(variance) : 1;
}

void RewardUnit::save(Snapshot& snapshot) const {
  if (known_) return;
  snapshot.put_saved("rewards", rewards_);
}

void RewardUnit::restore(const Snapshot& snapshot) {
  if (!known_) rewards_.restore(snapshot.part("rewards"));
}

}  // namespace stein::policies
