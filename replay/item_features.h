// What is known of the items of a log, from a table beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace stein::replay {

/// Features of items by name, read from comma-separated values with a header. The column `item_id` has the names,
/// columns without a name are left out, and of the others those whose values are all numbers are taken as they are,
/// others as categories, in one-hot buckets.
class ItemFeatures {
 public:
  /// No items, and no features.
  ItemFeatures() = default;
  /// Throws Error(data) naming the file, and the line where there is one, for a table of another form, an item that is
  /// there twice, or a number that is not finite; Error(io).
  ItemFeatures(const std::filesystem::path& file, std::int64_t buckets);

  /// Numbers that each item has.
  std::int64_t size() const { return size_; }
  const std::filesystem::path& file() const { return file_; }
  /// [size] of every item by its name.
  const std::unordered_map<std::string, std::vector<float>>& items() const { return items_; }

 private:
  std::filesystem::path file_;
  std::int64_t size_ = 0;
  std::unordered_map<std::string, std::vector<float>> items_;
};

}  // namespace stein::replay
