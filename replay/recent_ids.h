// Which of the last events were there already.
#pragma once

#include <stein/core/snapshot.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stein::replay {

/// The last so many identifiers, in constant memory. Of each only a hash of 64 bits is kept: that a new one is taken
/// for one of 65,536 others happens with probability 4e-15.
class RecentIds {
 public:
  static constexpr std::size_t most = 65'536;

  /// Whether it was added, and no more than `most` others since.
  bool contains(std::string_view id) const;
  /// Adds one that is not contained; the oldest is forgotten where there are more than `most`.
  void add(std::string_view id);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if more than `most` were saved, or one twice.
  void restore(const Snapshot& snapshot);

 private:
  void add_hash(std::uint64_t hash);

  std::vector<std::uint64_t> ring_;  ///< in the order in which they came, the oldest at `oldest_`
  std::size_t oldest_ = 0;
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace stein::replay
