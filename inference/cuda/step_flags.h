// What the kernels of a step say of numbers that are not finite.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/cuda/coordinate_group.h>
#include <stein/inference/samplers/move_watch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace stein::inference::cuda {

/// A number that is not finite as one word, so that the least of several is the first: gradients before values, row by
/// row, column by column.
using FoundNumber = std::uint64_t;

inline constexpr FoundNumber found_rows = (FoundNumber{1} << 21) - 1, found_columns = (FoundNumber{1} << 40) - 1;
inline constexpr FoundNumber nothing_found = std::numeric_limits<FoundNumber>::max();

/// @param row, column  below 2²¹ and 2⁴⁰, or those bits of them
STEIN_HOST_DEVICE inline FoundNumber found_number(bool gradient, std::int64_t row, std::int64_t column, float number) {
  const FoundNumber kind = std::isnan(number) ? 0 : number > 0 ? 1 : 2;
  return (gradient ? FoundNumber{0} : FoundNumber{1}) << 63 | (static_cast<FoundNumber>(row) & found_rows) << 42 |
         (static_cast<FoundNumber>(column) & found_columns) << 2 | kind;
}

inline NotFiniteNumber number_of(FoundNumber found) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  constexpr double kinds[] = {nan, infinity, -infinity};
  return {.gradient = found >> 63 == 0,
          .row = static_cast<std::int64_t>(found >> 42 & found_rows),
          .column = static_cast<std::int64_t>(found >> 2 & found_columns),
          .number = kinds[found & 3]};
}

/// The words of one step, which kernels set to 1. A move asks `gradient` first and leaves everything where it is after
/// a gradient that is not finite, or where the step before it met anything: so the host need not wait for a step before
/// it asks for the next. `seen`, in page-locked memory, tells it of both once the step has been made.
struct StepFlags {
  int* gradient = nullptr;       ///< in memory of the device: a gradient is not finite
  int* seen = nullptr;           ///< a gradient or a value is not finite
  int* lost = nullptr;           ///< the same, in memory of the device; null where the host waits for the step
  const int* before = nullptr;   ///< `lost` of the step before
  FoundNumber* first = nullptr;  ///< the first number that is not finite; null as `lost`

  /// Every thread writes the same number, so none needs a turn.
  STEIN_HOST_DEVICE void report_gradient() const { set(gradient), report_value(); }
  STEIN_HOST_DEVICE void report_value() const {
    set(seen);
    if (lost != nullptr) set(lost);
  }
  /// Which number it is.
  STEIN_HOST_DEVICE void name(bool of_gradient, std::int64_t row, std::int64_t column, float number) const {
    if (first == nullptr) return;
    const FoundNumber found = found_number(of_gradient, row, column, number);
#ifdef __CUDA_ARCH__
    atomicMin(reinterpret_cast<unsigned long long*>(first), static_cast<unsigned long long>(found));
#else
    *first = std::min(found, *first);
#endif
  }
  /// The same for those of a group.
  STEIN_HOST_DEVICE void name(bool of_gradient, const GroupPlace& place, const FourNumbers& numbers) const {
    for (int j = 0; j < place.count; ++j)
      if (!std::isfinite(numbers.number[j])) name(of_gradient, place.row, place.first + j, numbers.number[j]);
  }
  /// Whether the step moves nothing.
  STEIN_HOST_DEVICE bool stopped() const {
    return is_set(gradient) || (before != nullptr && is_set(before));
  }

 private:
  STEIN_HOST_DEVICE static void set(int* word) {
    *static_cast<volatile int*>(word) = 1;
  }
  STEIN_HOST_DEVICE static bool is_set(const int* word) {
    return *static_cast<const volatile int*>(word) != 0;
  }
};

}  // namespace stein::inference::cuda
