// Numbers that a device sends home while its host goes on.
#pragma once

#include <span>

namespace stein::inference {

/// Copied behind everything that the device was asked for before, and before what it is asked for after.
class LateNumbers {
 public:
  virtual ~LateNumbers() = default;
  /// The numbers, once they are here. Throws Error(io) where the device could not make them.
  virtual std::span<const double> wait() = 0;
};

}  // namespace stein::inference
