// The UCI mushroom table and a synthetic stand-in of the same shape, one-hot encoded as lists of active columns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stein {

/// Mushrooms in one-hot form: every row has exactly one active column for each of the 22 features.
struct MushroomTable {
  static constexpr int columns =
      117;  ///< levels of all features that occur in the UCI file; `?` of stalk-root is one of them
  static constexpr int active = 22;  ///< features, and so ones in a row

  int rows = 0;
  std::vector<std::int32_t> active_columns;  ///< [rows, 22], ascending within a row, feature by feature
  std::vector<std::uint8_t> poisonous;       ///< [rows], 1 if poisonous, 0 if edible
};

/// Rows of the UCI file.
inline constexpr int uci_mushroom_rows = 8124;

/// What a column stands for, in order: "odor=almond"; features in the file's order, levels in that of its
/// documentation.
const std::vector<std::string>& mushroom_column_names();

/// Reads agaricus-lepiota.data, also gzip-compressed: 23 comma-separated letters a line, the class (e, p) first.
/// @throws Error(data) naming file, line and reason: missing file, wrong number of fields, a field that is not
///         one letter, unknown class or level, a number of rows other than `expected_rows`; Error(io)
MushroomTable read_mushrooms(const std::filesystem::path& path, int expected_rows = uci_mushroom_rows);

/// Mushrooms that no field guide knows, of the same features and levels, for when the file is absent.
///
/// Levels are independent draws: level k of a feature has a weight of 1/(1 + k), but odor is none with probability 0.4,
/// almond or anise with 0.075 each, and each of the six others with 0.075. A mushroom is poisonous if
///   its odor is none of (none, almond, anise): 45 % of all mushrooms, or
///   it is odorless, with narrow gills and a black spore print (an interaction of three features; 4.7 % of all
///   mushrooms).
/// Same `seed`, same table. @throws Error(usage) if `rows` < 1
MushroomTable make_synthetic_mushrooms(std::uint64_t seed, int rows = uci_mushroom_rows);

}  // namespace stein
