#include <stein/core/data/array_table.h>
#include <stein/core/data/class_tables.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/supervised/tables/ages_synthetic.h>
#include <stein/supervised/tables/regression_toy.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/supervised/tables/two_moons.h>
#include <stein/supervised/tables/uci_regression.h>
#include <stein/training/data_name.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stein::supervised {
namespace {

namespace fs = std::filesystem;

/// A table of one's own on its way to a set.
class OwnTable {
 public:
  OwnTable(const TableOptions& options, TargetKind kind) : options_(options), kind_(kind) {
    const fs::path path = options.data;
    set_.name = path.stem().extension() == ".csv" ? path.stem().stem().string() : path.stem().string();
    options.is_arrays() ? read_arrays(path) : read_columns(path);
    for (std::size_t c = 0; c < set_.table.columns.size(); ++c)
      if (c != set_.target) set_.inputs.push_back(c);
    STEIN_CHECK(!set_.inputs.empty(), "'{}' has no column but the target to predict it from", options.data);
    check_target(path, 0);
    if (!options.test_data.empty()) append_test(options.test_data);
  }

  TableSet set() { return std::move(set_); }

 private:
  bool has_classes() const { return kind_ == TargetKind::category; }
  const Column& target() const { return set_.table.columns[set_.target]; }
  void read_columns(const fs::path& path) {
    STEIN_CHECK(!options_.target.empty(), "which column is to be predicted? Name it: --target COLUMN, of {}",
                fmt::join(csv_column_names(path), ", "));
    STEIN_CHECK(std::ranges::find(options_.ignore, options_.target) == options_.ignore.end(),
                "the column '{}' cannot be the target and be ignored", options_.target);
    set_.table = read_csv_table(path, {.categorical = options_.categorical,
                                       .classes = has_classes() ? options_.target : "",
                                       .ignore = options_.ignore});
    set_.target = set_.table.find(options_.target, "`target`");
  }
  void read_arrays(const fs::path& path) {
    STEIN_CHECK(!options_.target.empty(), "what is to be predicted? Name it: --target {}",
                path.extension() == ".npy" ? "FILE.npy" : "ARRAY");
    set_.table = read_array_table(path, options_.target, has_classes());
    set_.target = set_.table.columns.size() - 1;
  }
  /// Of the rows from `first` on, which are those of the file.
  void check_target(const fs::path& path, std::int64_t first) const {
    if (kind_ == TargetKind::number && !target().numeric()) {
      const auto row = std::ranges::find_if(target().levels, [this](std::int32_t level) {
        return level >= 0 && !number_in(target().categories[static_cast<std::size_t>(level)]);
      });
      fail(ErrorKind::data, "'{}', row {}: the target '{}' is to be a number in every row, and has the text '{}'",
           path.string(), row - target().levels.begin() + 1, target().name,
           target().categories[static_cast<std::size_t>(*row)]);
    }
    for (std::int64_t row = first; row < target().rows(); ++row)
      if (target().missing(row))
        fail(ErrorKind::data, "'{}', row {}: the target '{}' has no value", path.string(), row - first + 1,
             target().name);
  }
  void append_test(const fs::path& path) {
    set_.given_test = set_.table.rows();
    const Table more = options_.is_arrays() ? test_arrays(path) : test_columns(path);
    const std::size_t classes = target().categories.size();
    try {
      set_.table.append(more);
    } catch (const Error& error) {
      fail(error.kind(), "'{}': {} ('{}')", path.string(), error.what(), options_.data);
    }
    if (target().categories.size() > classes)
      fail(ErrorKind::data, "'{}': the class '{}' is in no row of '{}'", path.string(), target().categories[classes],
           options_.data);
    check_target(path, set_.given_test);
  }
  Table test_columns(const fs::path& path) const {
    std::vector<std::string> categorical, others = csv_column_names(path);
    for (const Column& column : set_.table.columns) {
      if (std::erase(others, column.name) == 0)
        fail(ErrorKind::data, "'{}' has no column '{}', which '{}' has", path.string(), column.name, options_.data);
      if (!column.numeric()) categorical.push_back(column.name);
    }
    return read_csv_table(path, {.categorical = std::move(categorical), .ignore = std::move(others)});
  }
  Table test_arrays(const fs::path& path) const {
    const bool is_npy = path.extension() == ".npy";
    STEIN_CHECK(!is_npy || !options_.test_target.empty(),
                "what is to be predicted of '{}'? Name it: --set test_target=FILE.npy", path.string());
    Table more = read_array_table(path, is_npy ? options_.test_target : options_.target, has_classes());
    if (more.columns.size() != set_.table.columns.size())
      fail(ErrorKind::data, "'{}' has {} features: expected {} as in '{}'", path.string(), more.columns.size() - 1,
           set_.table.columns.size() - 1, options_.data);
    return more;
  }

  const TableOptions& options_;
  TargetKind kind_;
  TableSet set_;
};

TableSetEntry uci_entry(const std::string& name, std::string description, std::int64_t splits) {
  return {.description = std::move(description),
          .target = TargetKind::number,
          .splits = splits,
          .read = [name](const TableOptions& options) {
            return read_uci_regression(
                name, require_data_set("uci-regression", options.data_folder, "`--data regression-toy` needs none"));
          }};
}

std::filesystem::path folder_of(const char* set, const TableOptions& options) {
  return require_data_set(set, options.data_folder, "`--data two-moons` needs none");
}

/// The last column is the target, all others are read.
TableSet with_last_as_target(std::string name, PartedTable parts) {
  TableSet set{.name = std::move(name), .table = std::move(parts.table), .given_test = parts.first_test};
  set.target = set.table.columns.size() - 1;
  for (std::size_t c = 0; c < set.target; ++c) set.inputs.push_back(c);
  return set;
}

/// Class 2, lodgepole pine, against the others, as Liu & Wang (2016) ask.
TableSet read_covertype_set(const TableOptions& options) {
  TableSet set = with_last_as_target("covertype-15120", {.table = read_covertype(folder_of("covertype", options))});
  Column& cover = set.table.columns[set.target];
  for (std::int32_t& level : cover.levels) level = cover.categories[static_cast<std::size_t>(level)] == "2";
  cover.categories = {"other", "lodgepole pine"};
  return set;
}

void add_class_tables(Registry<TableSetEntry>& to) {
  to.add("covertype-15120",
         {.description = "the first 15,120 rows of Covertype, 54 columns: lodgepole pine (a seventh of "
                         "them) or not",
          .target = TargetKind::category,
          .read = read_covertype_set});
  to.add("shuttle", {.description = "Statlog Shuttle: 43,500 + 14,500 rows, nine columns, seven classes",
                     .target = TargetKind::category,
                     .given_test = true,
                     .read = [](const TableOptions& options) {
                       return with_last_as_target("shuttle", read_shuttle(folder_of("shuttle", options)));
                     }});
  to.add("adult", {.description = "Adult, 1994 census: 32,561 + 16,281 rows, 14 columns, income above 50,000 or not",
                   .target = TargetKind::category,
                   .given_test = true,
                   .read = [](const TableOptions& options) {
                     return with_last_as_target("adult", read_adult(folder_of("adult", options)));
                   }});
  to.add("two-moons", {.description = "two half circles that interlock, with noise, made up",
                       .target = TargetKind::category,
                       .synthetic = true,
                       .read = [](const TableOptions& options) { return make_two_moons(options.synthetic_rows, 0); }});
  to.add("ages-synthetic",
         {.description = "features of faces in eight classes of age, some of them rare, made up: 512 columns",
          .target = TargetKind::category,
          .synthetic = true,
          .read = [](const TableOptions& options) { return make_ages(options.synthetic_rows, 0); }});
}

/// Called when the registry is first asked for.
Registry<TableSetEntry> make_sets() {
  struct Uci {
    const char *name, *description;
    std::int64_t splits = 20;
  };
  constexpr std::array sets{Uci{"boston", "UCI Boston housing: 506 rows, 13 columns"},
                            Uci{"concrete", "UCI concrete strength: 1,030 rows, 8 columns"},
                            Uci{"energy", "UCI energy efficiency: 768 rows, 8 columns"},
                            Uci{"kin8nm", "UCI robot arm kin8nm: 8,192 rows, 8 columns"},
                            Uci{"naval", "UCI naval propulsion: 11,934 rows, 16 columns"},
                            Uci{"power", "UCI combined cycle power plant: 9,568 rows, 4 columns"},
                            Uci{"protein", "UCI protein structure: 45,730 rows, 9 columns", 5},
                            Uci{"wine-red", "UCI red wine quality: 1,599 rows, 11 columns"},
                            Uci{"yacht", "UCI yacht hydrodynamics: 308 rows, 6 columns"}};
  Registry<TableSetEntry> made("table");
  for (const Uci& set : sets) made.add(set.name, uci_entry(set.name, set.description, set.splits));
  made.add(
      "regression-toy",
      {.description = "one column, whose truth is known: y = x + sin 4x + sin 13x with noise in x, a gap in between",
       .synthetic = true,
       .read = [](const TableOptions& options) { return make_regression_toy(options.synthetic_rows, 0); }});
  add_class_tables(made);
  return made;
}

}  // namespace

Registry<TableSetEntry>& table_sets() {
  static Registry<TableSetEntry> sets = make_sets();
  return sets;
}

std::vector<std::string> table_names(TargetKind kind) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : table_sets().entries())
    if (entry.target == kind) names.push_back(name);
  return names;
}

bool TableOptions::is_file() const {
  return training::means_file(data, table_sets());
}

bool TableOptions::is_arrays() const {
  return is_file() && means_arrays(data);
}

const TableSetEntry* TableOptions::entry() const {
  const auto place = table_sets().entries().find(data);
  return place == table_sets().entries().end() ? nullptr : &place->second;
}

std::string TableOptions::data_help(TargetKind kind) {
  return fmt::format(
      "table: {}, or a file of your own: comma-separated values under a header, or features in a .npy or "
      ".safetensors file",
      fmt::join(table_names(kind), ", "));
}

TableSet read_table_set(const TableOptions& options, TargetKind kind) {
  if (options.is_file()) return OwnTable(options, kind).set();
  const TableSetEntry& entry = table_sets().at(options.data);
  STEIN_CHECK(entry.target == kind, "the table '{}' has {} to predict: `stein {}`", options.data,
              entry.target == TargetKind::number ? "numbers" : "classes",
              entry.target == TargetKind::number ? "regress" : "classify");
  for (const auto& [option, is_set] :
       {std::pair("target", !options.target.empty()), std::pair("test_data", !options.test_data.empty())})
    STEIN_CHECK(!is_set, "option '{}' is of a file of your own: the table '{}' has its own", option, options.data);
  return entry.read(options);
}

}  // namespace stein::supervised
