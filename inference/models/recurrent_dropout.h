// Dropout of a recurrent network: the masks of one pass.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/models/recurrent_spec.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::inference {

/// Whose noise it is: a key, and the row of weights.
struct DropoutDraw {
  NoiseKey key;
  std::uint32_t row;
};

/// A mask of the inputs of each layer and one of the outputs, for each step or for a whole sequence; of the latter one
/// for the state before too. Which masks there are is the same every time, so each has a number of its own.
class RecurrentDropout {
 public:
  /// @param spec  outlives it
  explicit RecurrentDropout(const RecurrentSpec& spec);

  /// Draws all masks of a pass of so many steps and rows; without a draw nothing is dropped.
  void draw(const std::optional<DropoutDraw>& dropout, std::int64_t steps, std::int64_t rows);
  /// x ∘ mask of layer l's inputs, in place; l = layers: of the outputs. Masks for whole sequences are repeated.
  void drop(std::int64_t l, std::vector<float>& x) const;
  /// The mask [rows, H] of layer l's state before each step; null for none.
  const float* kept(std::int64_t l) const;

 private:
  const RecurrentSpec& spec_;
  bool drops_ = false;
  std::vector<std::vector<float>> masks_, kept_;
};

}  // namespace stein::inference
