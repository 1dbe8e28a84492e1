#include <stein/core/error.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/recent_ids.h>

#include <algorithm>

namespace stein::replay {

bool RecentIds::contains(std::string_view id) const {
  return known_.contains(hash_name(id));
}

void RecentIds::add(std::string_view id) {
  add_hash(hash_name(id));
}

void RecentIds::add_hash(std::uint64_t hash) {
  if (!known_.insert(hash).second) return;
  if (ring_.size() < most) {
    ring_.push_back(hash);
    return;
  }
  known_.erase(ring_[oldest_]);
  ring_[oldest_] = hash;
  oldest_ = (oldest_ + 1) % most;
}

void RecentIds::save(Snapshot& snapshot) const {
  std::vector<std::uint64_t> oldest_first = ring_;
  std::rotate(oldest_first.begin(), oldest_first.begin() + static_cast<std::ptrdiff_t>(oldest_), oldest_first.end());
  snapshot.put("recent_ids", oldest_first);
}

void RecentIds::restore(const Snapshot& snapshot) {
  ring_.clear(), known_.clear();
  oldest_ = 0;
  const auto saved = snapshot.get_vector<std::uint64_t>("recent_ids");
  for (const std::uint64_t hash : saved) add_hash(hash);
  if (ring_.size() != saved.size())
    fail(ErrorKind::data, "expected at most {} saved identifiers, each once, got {}", most, saved.size());
}

}  // namespace stein::replay
