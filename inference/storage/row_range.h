// Which rows of an ensemble a component keeps something for.
#pragma once

#include <stein/core/error.h>

#include <cstdint>
#include <string_view>

namespace stein::inference {

/// Rows first … first + count − 1 by their global numbers: all rows of an ensemble, or those of one shard.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 1;

  /// Position of a row among them. Throws Error(usage) naming `owner` if it is none of them.
  std::size_t position(std::int64_t row, std::string_view owner) const {
    STEIN_CHECK(row >= first && row < first + count, "{}: it is for rows {} to {}, got row {}", owner, first,
                first + count - 1, row);
    return static_cast<std::size_t>(row - first);
  }
};

}  // namespace stein::inference
