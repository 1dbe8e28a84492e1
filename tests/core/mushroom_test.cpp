#include <stein/core/atomic_file.h>
#include <stein/core/data/manifest.h>
#include <stein/core/data/mushroom.h>
#include <stein/core/read_file.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "skip.h"

namespace stein {
namespace {

// The first two lines of agaricus-lepiota.data.
const std::string first = "p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u\n";
const std::string second = "e,x,s,y,t,a,f,c,b,k,e,c,s,s,w,w,p,w,o,p,n,n,g\n";

std::string feature_of(const std::string& column) {
  return column.substr(0, column.find('='));
}

std::map<std::string, int> count_columns(const MushroomTable& table) {
  std::map<std::string, int> counts;
  for (const std::int32_t column : table.active_columns)
    ++counts[mushroom_column_names().at(static_cast<std::size_t>(column))];
  return counts;
}

int count_poisonous(const MushroomTable& table) {
  return static_cast<int>(std::ranges::count(table.poisonous, 1));
}

/// One active column for each feature, in order.
void check_one_hot(const MushroomTable& table) {
  REQUIRE(table.active_columns.size() == static_cast<std::size_t>(table.rows) * MushroomTable::active);
  REQUIRE(table.poisonous.size() == static_cast<std::size_t>(table.rows));
  for (auto row = table.active_columns.begin(); row != table.active_columns.end(); row += MushroomTable::active) {
    std::set<std::string> features;
    for (int f = 0; f < MushroomTable::active; ++f) {
      REQUIRE((row[f] >= 0 && row[f] < MushroomTable::columns));
      features.insert(feature_of(mushroom_column_names()[static_cast<std::size_t>(row[f])]));
    }
    REQUIRE(features.size() == MushroomTable::active);
    REQUIRE(std::is_sorted(row, row + MushroomTable::active));
  }
}

TEST_CASE("the columns are the 117 levels of the 22 features", "[core][data][mushroom]") {
  const std::vector<std::string>& names = mushroom_column_names();
  CHECK(names.size() == MushroomTable::columns);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == MushroomTable::columns);
  std::set<std::string> features;
  for (const std::string& name : names) features.insert(feature_of(name));
  CHECK(features.size() == MushroomTable::active);
  CHECK(names.front() == "cap-shape=bell");
  CHECK(names.back() == "habitat=woods");
}

TEST_CASE("lines become active columns", "[core][data][mushroom]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "two.data", first + second);
  const MushroomTable table = read_mushrooms(folder / "two.data", 2);
  check_one_hot(table);
  CHECK(table.rows == 2);
  CHECK(table.poisonous == std::vector<std::uint8_t>{1, 0});
  // cap-shape bell, conical, convex: x is column 2. cap-surface starts at 6; smooth is its fourth level: 9.
  CHECK(table.active_columns[0] == 2);
  CHECK(table.active_columns[1] == 9);
  const auto name = [&](std::size_t row, std::size_t feature) {
    return mushroom_column_names()[static_cast<std::size_t>(
        table.active_columns[row * MushroomTable::active + feature])];
  };
  CHECK(name(0, 4) == "odor=pungent");
  CHECK(name(1, 4) == "odor=almond");
  CHECK(name(0, 21) == "habitat=urban");
  CHECK(name(1, 21) == "habitat=grasses");
  write_file_atomically(folder / "no-newline.data", first + second.substr(0, second.size() - 1));
  CHECK(read_mushrooms(folder / "no-newline.data", 2).active_columns == table.active_columns);
}

TEST_CASE("the UCI file has the counts that its documentation states, and uses every column",
          "[core][data][mushroom][data-set]") {
  const auto found = find_data_set("mushroom");
  if (!found) test::skip("no data set mushroom");
  const MushroomTable table = read_mushrooms(*found / "agaricus-lepiota.data");
  check_one_hot(table);
  // agaricus-lepiota.names: 4208 edible, 3916 poisonous, 2480 missing values of stalk-root.
  CHECK(table.rows == 4208 + 3916);
  CHECK(count_poisonous(table) == 3916);
  const std::map<std::string, int> counts = count_columns(table);
  CHECK(counts.size() == MushroomTable::columns);
  CHECK(counts.at("stalk-root=missing") == 2480);
}

TEST_CASE("a mushroom file that is not whole or not right is refused with file, line and reason",
          "[core][data][mushroom]") {
  const test::TemporaryDirectory folder;
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_file_atomically(folder / "bad.data", text);
    test::check_error([&] { read_mushrooms(folder / "bad.data", 2); }, ErrorKind::data, parts);
  };
  const auto with = [](std::string line, std::size_t place, char letter) {
    line[place] = letter;
    return line;
  };
  CHECK_ERROR(read_mushrooms(folder / "none.data"), data, "none.data", "does not exist");
  refused("", {"bad.data", "expected 2 rows, found 0"});
  refused(first, {"bad.data", "expected 2 rows, found 1", "truncated"});
  refused(first + second.substr(0, 20), {"bad.data', line 2", "expected 23 fields, found 11"});
  refused(first + second.substr(0, 44), {"line 2", "field 23 is not a single letter"});
  refused("p," + first + second, {"line 1", "expected 23 fields, found 24"});
  refused(first + second + first, {"line 3", "expected 2 rows and no more"});
  refused(first + "\n" + second, {"line 2", "expected 23 fields, found 1"});
  refused(first + with(second, 0, 'x'), {"line 2", "unknown class 'x'"});
  refused(with(first, 10, 'q') + second, {"line 1", "unknown level 'q' of odor (field 6)", "alcyfmnps"});
  refused(first + with(second, 22, 'u'), {"line 2", "unknown level 'u' of stalk-root (field 12)"});
  refused("pp" + first.substr(1) + second, {"line 1", "field 1 is not a single letter"});
  refused(first.substr(0, first.size() - 1) + "u\n" + second, {"line 1", "field 23 is not a single letter"});
  refused(with(first, 1, ';') + second, {"line 1", "expected 23 fields, found 22"});
  refused(std::string(50'000, '\0'), {"line 1", "found 1"});
}

TEST_CASE("synthetic mushrooms have the same shape and follow their documented rule", "[core][data][mushroom]") {
  const int rows = 20'000;
  const MushroomTable table = make_synthetic_mushrooms(1, rows);
  check_one_hot(table);
  CHECK(table.rows == rows);
  const std::map<std::string, int> counts = count_columns(table);
  CHECK(counts.size() == MushroomTable::columns);

  // Shares by the documented weights: gill-size narrow 1/3; spore print black 1/H(9), H(9) = 7129/2520; odor none 0.4.
  const double narrow = 1.0 / 3, black = 2520.0 / 7129, odorless = 0.4;
  const auto z_score = [&](int count, double share) {
    return (count - rows * share) / std::sqrt(rows * share * (1 - share));
  };
  CHECK(std::abs(z_score(counts.at("odor=none"), odorless)) < 6.1);
  CHECK(std::abs(z_score(counts.at("gill-size=narrow"), narrow)) < 6.1);
  CHECK(std::abs(z_score(counts.at("spore-print-color=black"), black)) < 6.1);
  CHECK(std::abs(z_score(count_poisonous(table), 0.45 + odorless * narrow * black)) < 6.1);

  const std::set<std::string> pleasant{"odor=none", "odor=almond", "odor=anise"};
  for (int row = 0; row < rows; ++row) {
    std::set<std::string> levels;
    for (int f = 0; f < MushroomTable::active; ++f) {
      const auto column =
          table.active_columns[static_cast<std::size_t>(row) * MushroomTable::active + static_cast<std::size_t>(f)];
      levels.insert(mushroom_column_names()[static_cast<std::size_t>(column)]);
    }
    const bool foul = std::ranges::none_of(levels, [&](const std::string& l) { return pleasant.contains(l); });
    const bool hidden = levels.contains("odor=none") && levels.contains("gill-size=narrow") &&
                        levels.contains("spore-print-color=black");
    REQUIRE(table.poisonous[static_cast<std::size_t>(row)] == (foul || hidden));
  }
}

TEST_CASE("synthetic mushrooms repeat with their seed", "[core][data][mushroom]") {
  const MushroomTable table = make_synthetic_mushrooms(5, 100);
  CHECK(make_synthetic_mushrooms(5, 100).active_columns == table.active_columns);
  CHECK(make_synthetic_mushrooms(6, 100).active_columns != table.active_columns);
  const MushroomTable longer = make_synthetic_mushrooms(5, 200);
  CHECK(std::equal(table.active_columns.begin(), table.active_columns.end(), longer.active_columns.begin()));
  CHECK_ERROR(make_synthetic_mushrooms(5, 0), usage, "at least 1 row, got 0");
}

}  // namespace
}  // namespace stein
