#include <stein/replay/feature_hash.h>

#include <xxhash.h>

namespace stein::replay {

std::uint64_t hash_name(std::string_view name, std::uint64_t outer) {
  return XXH3_64bits_withSeed(name.data(), name.size(), outer);
}

void add_hashed(std::uint64_t feature, float value, std::span<float> columns, ColumnUse& use) {
  if (columns.empty()) return;
  const std::size_t column = bucket_of(feature >> 1U, columns.size());
  use.note(column, feature);
  columns[column] += (feature & 1U) != 0 ? value : -value;
}

std::size_t bucket_of(std::uint64_t category, std::size_t buckets) {
  return static_cast<std::size_t>(category % buckets);
}

}  // namespace stein::replay
