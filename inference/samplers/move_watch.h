// What the moves of a device meet, where its host runs ahead of them.
#pragma once

#include <cstdint>
#include <optional>

namespace stein::inference {

/// A number that stopped a step.
struct NotFiniteNumber {
  bool gradient = false;  ///< of a gradient, and nothing was moved; else a value that the step has moved out
  std::int64_t row = 0, column = 0;
  double number = 0;
};

/// What is not finite in the steps of one sampler, on a device that is asked for a step while it still makes the one
/// before. The host learns it one step later; until then nothing moves any more, so the particles are where the step
/// left them that is told of. Moves and clipping are given the watch of their sampler.
class MoveWatch {
 public:
  virtual ~MoveWatch() = default;

  /// A step begins: what is asked for from here on belongs to it.
  virtual void begin() = 0;
  /// All of the step is asked for. Waits for the step before, and says the first number of it that is not finite, a
  /// gradient's before a value's. After that it begins anew: the step that ends here has moved nothing.
  virtual std::optional<NotFiniteNumber> end() = 0;
  /// Waits for the last step that has ended, and says the same of it.
  virtual std::optional<NotFiniteNumber> settle() = 0;
};

}  // namespace stein::inference
