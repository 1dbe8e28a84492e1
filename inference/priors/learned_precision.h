// Gaussian numbers whose precision is sampled beside them, as a driver is asked for their slopes.
#pragma once

#include <stein/inference/priors/gamma_prior.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Numbers first, …, first + count − 1 of every row.
struct NumberRun {
  std::int64_t first, count;
};

/// n numbers x ~ N(0, 1/λ) with λ ~ Gamma(a₀, b₀), whose logarithm is number `coordinate` of the same row. Without
/// runs: a precision of something else, of which the law alone counts here.
struct LearnedPrecision {
  std::int64_t coordinate;
  std::span<const NumberRun> runs{};  ///< with zeros between the numbers
  std::int64_t variables = 0;         ///< n
  GammaPriorOptions gamma{};
};

}  // namespace stein::inference
