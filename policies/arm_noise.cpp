#include <stein/policies/arm_noise.h>

#include <cmath>

namespace stein::policies {

ArmNoise::ArmNoise(const Options& options, std::int64_t arms, double mean)
    : shape_(options.noise_shape),
      rate_(options.noise_shape / mean),
      decay_(options.noise_memory > 0 ? std::exp(-1 / options.noise_memory) : 1),
      counts_(static_cast<std::size_t>(arms)),
      squares_(static_cast<std::size_t>(arms)) {}

void ArmNoise::observe(std::int64_t arm, double residual, double weight) {
  const auto a = static_cast<std::size_t>(arm);
  counts_[a] = decay_ * counts_[a] + weight;
  squares_[a] = decay_ * squares_[a] + weight * residual * residual;
}

double ArmNoise::precision(std::int64_t arm) const {
  const auto a = static_cast<std::size_t>(arm);
  return (shape_ + counts_[a] / 2) / (rate_ + squares_[a] / 2);
}

void ArmNoise::save(Snapshot& snapshot) const {
  snapshot.put("counts", counts_);
  snapshot.put("squares", squares_);
}

void ArmNoise::restore(const Snapshot& snapshot) {
  snapshot.get("counts", std::span(counts_));
  snapshot.get("squares", std::span(squares_));
}

}  // namespace stein::policies
