#include <stein/core/data/mushroom.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/core/rng.h>

namespace stein {
namespace {

struct Level {
  std::string name;
  char letter;
};

struct Feature {
  std::string name;
  int first_column;
  std::vector<Level> levels;

  /// Column of the level written as `letter`, or -1.
  std::int32_t column(char letter) const {
    const auto level = std::ranges::find(levels, letter, &Level::letter);
    return level == levels.end() ? -1 : static_cast<std::int32_t>(first_column + (level - levels.begin()));
  }
  std::int32_t column(std::string_view level_name) const {
    const auto level = std::ranges::find(levels, level_name, &Level::name);
    return static_cast<std::int32_t>(first_column + (level - levels.begin()));
  }
  std::string letters() const {
    std::string text;
    for (const Level& level : levels) text += level.letter;
    return text;
  }
};

// Attribute information of agaricus-lepiota.names, without the levels that no row of the file has
// (gill-attachment d, n; gill-spacing d; stalk-root u, z; veil-type u; ring-type c, s, z).
constexpr std::array<std::pair<std::string_view, std::string_view>, MushroomTable::active> documentation{{
    {"cap-shape", "bell=b,conical=c,convex=x,flat=f,knobbed=k,sunken=s"},
    {"cap-surface", "fibrous=f,grooves=g,scaly=y,smooth=s"},
    {"cap-color", "brown=n,buff=b,cinnamon=c,gray=g,green=r,pink=p,purple=u,red=e,white=w,yellow=y"},
    {"bruises", "bruises=t,no=f"},
    {"odor", "almond=a,anise=l,creosote=c,fishy=y,foul=f,musty=m,none=n,pungent=p,spicy=s"},
    {"gill-attachment", "attached=a,free=f"},
    {"gill-spacing", "close=c,crowded=w"},
    {"gill-size", "broad=b,narrow=n"},
    {"gill-color", "black=k,brown=n,buff=b,chocolate=h,gray=g,green=r,orange=o,pink=p,purple=u,red=e,white=w,yellow=y"},
    {"stalk-shape", "enlarging=e,tapering=t"},
    {"stalk-root", "bulbous=b,club=c,equal=e,rooted=r,missing=?"},
    {"stalk-surface-above-ring", "fibrous=f,scaly=y,silky=k,smooth=s"},
    {"stalk-surface-below-ring", "fibrous=f,scaly=y,silky=k,smooth=s"},
    {"stalk-color-above-ring", "brown=n,buff=b,cinnamon=c,gray=g,orange=o,pink=p,red=e,white=w,yellow=y"},
    {"stalk-color-below-ring", "brown=n,buff=b,cinnamon=c,gray=g,orange=o,pink=p,red=e,white=w,yellow=y"},
    {"veil-type", "partial=p"},
    {"veil-color", "brown=n,orange=o,white=w,yellow=y"},
    {"ring-number", "none=n,one=o,two=t"},
    {"ring-type", "evanescent=e,flaring=f,large=l,none=n,pendant=p"},
    {"spore-print-color", "black=k,brown=n,buff=b,chocolate=h,green=r,orange=o,purple=u,white=w,yellow=y"},
    {"population", "abundant=a,clustered=c,numerous=n,scattered=s,several=v,solitary=y"},
    {"habitat", "grasses=g,leaves=l,meadows=m,paths=p,urban=u,waste=w,woods=d"},
}};

std::vector<Feature> make_features() {
  std::vector<Feature> features;
  int column = 0;
  for (auto [name, levels] : documentation) {
    Feature feature{.name = std::string(name), .first_column = column, .levels = {}};
    for (std::size_t equals = levels.find('='); equals != std::string_view::npos; equals = levels.find('=')) {
      feature.levels.push_back({.name = std::string(levels.substr(0, equals)), .letter = levels[equals + 1]});
      levels.remove_prefix(std::min(levels.size(), equals + 3));  // "name=x,"
    }
    column += static_cast<int>(feature.levels.size());
    features.push_back(std::move(feature));
  }
  return features;
}

const std::vector<Feature>& features() {
  static const std::vector<Feature> all = make_features();
  return all;
}

const Feature& feature(std::string_view name) {
  return *std::ranges::find(features(), name, &Feature::name);
}

/// One file being read; knows where it is, for messages.
class Reader {
 public:
  Reader(const std::filesystem::path& path, int expected_rows) : path_(path.string()), expected_rows_(expected_rows) {}

  MushroomTable read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      read_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (table_.rows != expected_rows_) {
      fail(ErrorKind::data, "'{}': expected {} rows, found {}: the file is truncated", path_, expected_rows_,
           table_.rows);
    }
    return std::move(table_);
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::data, "'{}', line {}: {}", path_, table_.rows + 1,
         fmt::format(format, std::forward<Args>(args)...));
  }

  void read_line(std::string_view line) {
    if (table_.rows == expected_rows_) refuse("expected {} rows and no more", expected_rows_);
    const auto fields = std::ranges::count(line, ',') + 1;
    if (fields != MushroomTable::active + 1) refuse("expected {} fields, found {}", MushroomTable::active + 1, fields);
    // One letter and one comma for each field, so field f stands at 2 f.
    for (std::size_t place = 1; place < line.size(); place += 2) {
      if (line[place] != ',') refuse("field {} is not a single letter", place / 2 + 1);
    }
    if (line.size() != 2 * MushroomTable::active + 1)
      refuse("field {} is not a single letter", (line.size() + 1) / 2 + 1);
    if (line[0] != 'e' && line[0] != 'p') refuse("unknown class '{}', expected e or p", line[0]);
    for (std::size_t f = 0; f < features().size(); ++f) {
      const Feature& feature = features()[f];
      const std::int32_t column = feature.column(line[2 * f + 2]);
      if (column < 0) {
        refuse("unknown level '{}' of {} (field {}), expected one of {}", line[2 * f + 2], feature.name, f + 2,
               feature.letters());
      }
      table_.active_columns.push_back(column);
    }
    table_.poisonous.push_back(line[0] == 'p' ? 1 : 0);
    ++table_.rows;
  }

  std::string path_;
  int expected_rows_;
  MushroomTable table_;
};

std::vector<double> level_weights(const Feature& feature) {
  std::vector<double> weights;
  for (const Level& level : feature.levels) {
    const double odor_weight = level.name == "none" ? 0.4 : 0.075;
    weights.push_back(feature.name == "odor" ? odor_weight : 1.0 / static_cast<double>(1 + weights.size()));
  }
  return weights;
}

bool contains(std::span<const std::int32_t> row, std::string_view feature_name, std::string_view level) {
  return std::ranges::find(row, feature(feature_name).column(level)) != row.end();
}

bool is_poisonous(std::span<const std::int32_t> row) {
  const bool odorless = contains(row, "odor", "none");
  const bool pleasant = contains(row, "odor", "almond") || contains(row, "odor", "anise");
  if (!odorless && !pleasant) return true;
  return odorless && contains(row, "gill-size", "narrow") && contains(row, "spore-print-color", "black");
}

}  // namespace

const std::vector<std::string>& mushroom_column_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Feature& feature : features()) {
      for (const Level& level : feature.levels) all.push_back(feature.name + "=" + level.name);
    }
    return all;
  }();
  return names;
}

MushroomTable read_mushrooms(const std::filesystem::path& path, int expected_rows) {
  constexpr std::uint64_t limit = std::uint64_t{64}
                                  << 20;  // 180 times the file: no reason to read more before refusing it
  return Reader(path, expected_rows).read(read_text(path, limit));
}

MushroomTable make_synthetic_mushrooms(std::uint64_t seed, int rows) {
  STEIN_CHECK(rows >= 1, "a mushroom table must have at least 1 row, got {}", rows);
  std::vector<std::vector<double>> weights;
  for (const Feature& feature : features()) weights.push_back(level_weights(feature));

  MushroomTable table;
  table.rows = rows;
  for (int row = 0; row < rows; ++row) {
    Draws draws({.seed = seed, .step = 0, .stream = Stream::data}, static_cast<std::uint32_t>(row));
    std::array<std::int32_t, MushroomTable::active> active{};
    for (std::size_t f = 0; f < active.size(); ++f) {
      active[f] = features()[f].first_column + static_cast<std::int32_t>(draws.categorical(weights[f]));
    }
    table.active_columns.insert(table.active_columns.end(), active.begin(), active.end());
    table.poisonous.push_back(is_poisonous(active) ? 1 : 0);
  }
  return table;
}

}  // namespace stein
