// An ensemble of plain numbers, for samplers whose target has no names.
#pragma once

#include <stein/inference/ensemble.h>

namespace stein::inference {

/// `rows` particles of `size` coordinates.
inline Ensemble ensemble_of(std::int64_t rows, std::int64_t size, std::uint64_t seed) {
  Ensemble ensemble{.rows = {0, rows}, .total_rows = rows, .seed = seed};
  if (size > 0) ensemble.layout.add("x", {size}, Role::bias);
  return ensemble;
}

}  // namespace stein::inference
