// Which columns several features were hashed into.
#pragma once

#include <stein/core/snapshot.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// Notes the feature that each column holds, and whether another one came to the same column: a policy cannot tell the
/// two apart.
class ColumnUse {
 public:
  explicit ColumnUse(std::int64_t columns)
      : feature_(static_cast<std::size_t>(columns)), crowded_(static_cast<std::size_t>(columns)) {}

  /// @param feature  the hash of its name
  void note(std::size_t column, std::uint64_t feature) {
    feature += feature == 0;  // 0 stands for none
    if (feature_[column] == 0) feature_[column] = feature;
    crowded_[column] |= static_cast<std::uint8_t>(feature_[column] != feature);
  }

  /// Columns that hold several features.
  std::int64_t crowded() const;
  /// Columns that hold any.
  std::int64_t used() const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for another number of columns.
  void restore(const Snapshot& snapshot);

 private:
  std::vector<std::uint64_t> feature_;  ///< [columns] the first one
  std::vector<std::uint8_t> crowded_;   ///< [columns]
};

/// "3 of 16 columns of … hold several …: …, raise `option`", or nothing where no column does.
std::string crowd_warning(const ColumnUse& use, std::string_view what, std::string_view option);

}  // namespace stein::replay
