// The weights that predictions of a trained network are averaged over.
#pragma once

#include <stein/inference/prediction/sample_reservoir.h>
#include <stein/training/network_weights.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace stein::training {

/// The key of dropout in minibatch `piece` < 2²⁴ of what is predicted; none for none.
inline std::optional<NoiseKey> piece_key(const std::optional<NoiseKey>& draw, std::int64_t piece) {
  if (!draw) return std::nullopt;
  return NoiseKey{draw->seed, (draw->step << 24) + static_cast<std::uint64_t>(piece), draw->stream};
}

/// One of them after the other, by number: of chains the stored samples, of a variational method draws from its
/// Gaussian, of an ensemble its particles, of an optimizer the weights where it ended; with `dropout`, as many draws of
/// that.
class WeightDraws {
 public:
  /// How many, and with what noise.
  struct Options {
    std::int64_t draws = 10;  ///< of a variational method, and of dropout
    bool mean = false;        ///< a variational method's mean instead, and of chains the weights where they ended
    bool dropout = false;     ///< with the network's dropout, as Gal & Ghahramani 2016 predict
    std::uint64_t seed = 0;   ///< of draws
  };
  /// Weights and the key of the dropout that goes with them.
  struct Draw {
    inference::ParticleRows<const float> weights{};  ///< [1, P], valid until the next one is asked for
    std::optional<NoiseKey> dropout{};               ///< of the draw; `piece_key` tells its minibatches apart
  };

  /// @param weights  outlives the draws
  /// @param samples  folder of the stored samples, `stored` of them, with a row for every chain; 0: none were stored
  /// @throws Error(data) where a stored sample is missing
  WeightDraws(NetworkWeights& weights, const Options& options, const std::filesystem::path& samples,
              std::int64_t stored);

  std::int64_t count() const { return count_; }
  /// Draw k = 0 … count() − 1, the same each time.
  Draw get(std::int64_t k);
  /// The key of the dropout that goes with draw k.
  std::optional<NoiseKey> dropout(std::int64_t k) const;
  /// The weights of all draws [count(), P], where the particles lie.
  inference::Matrix<float> all();

 private:
  /// The stored sample of that number; the particles as they are where none is stored.
  const inference::Particles<float>& sampled(std::int64_t number);

  NetworkWeights& weights_;
  Options options_;
  std::optional<inference::SampleReservoir<float>> samples_;
  std::optional<inference::Particles<float>> sample_;  ///< the last one that was read
  std::int64_t read_ = -1;                             ///< its number
  inference::Matrix<float> memory_;
  std::int64_t different_ = 1;  ///< draws of weights
  std::int64_t count_ = 1;
};

}  // namespace stein::training
