// Which rows of an ensemble a component keeps something for.
#pragma once

#include <stein/core/error.h>
#include <stein/core/snapshot.h>

#include <cstdint>
#include <string_view>
#include <vector>

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

  void save(Snapshot& snapshot) const { snapshot.put("rows", std::vector<std::int64_t>{first, count}); }
  /// Throws Error(data) naming `owner` if other rows were saved.
  void check(const Snapshot& snapshot, std::string_view owner) const {
    if (!snapshot.contains("rows")) return;  // not in older checkpoints, of which none is of a shard
    const auto saved = snapshot.get_vector<std::int64_t>("rows");
    if (saved != std::vector<std::int64_t>{first, count})
      fail(ErrorKind::data, "{}: the checkpoint is of rows {} to {}, expected {} to {}", owner, saved.at(0),
           saved.at(0) + saved.at(1) - 1, first, first + count - 1);
  }
};

}  // namespace stein::inference
