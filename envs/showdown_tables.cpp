#include <stein/core/data/class_tables.h>
#include <stein/core/data/manifest.h>
#include <stein/envs/showdown_tables.h>

#include <numeric>
#include <utility>
#include <vector>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Shuttle>("shuttle", "Statlog Shuttle: which of seven states, by nine numbers") &&
    register_bandit<Covertype>("covertype", "Covertype, 581,012 rows: which of seven trees, by 54 columns") &&
    register_bandit<SmallCovertype>("covertype-15120", "Covertype, its first 15,120 rows, as many of each tree") &&
    register_bandit<Adult>("adult", "Adult, 1994 census: which of 14 occupations, or which income") &&
    register_bandit<Census>("census", "US Census 1990, 2,458,285 rows: which of nine occupations");

std::filesystem::path folder_of(const char* set, const DataSource& source) {
  return require_data_set(set, source.directory, "'classification-synthetic' needs none");
}

Classification::Origin real(std::string name) {
  return {.name = std::move(name), .data = "real", .source = "Riquelme, Tucker & Snoek 2018"};
}

/// The table with other names for the classes of its column `target`, in their order.
Table named(Table table, const char* target, std::vector<std::string> classes) {
  table.columns[table.find(target, "a bandit's target")].categories = std::move(classes);
  return table;
}

/// The rows of the training part; classes as the documentation of the set names them.
Table read_shuttle_rows(const DataSource& source) {
  PartedTable parts = read_shuttle(folder_of("shuttle", source));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(parts.first_test));
  std::iota(rows.begin(), rows.end(), 0);
  parts.table.keep_rows(rows);
  parts.table.checksums.erase("shuttle.tst");
  return named(std::move(parts.table), "state",
               {"Rad Flow", "Fpv Close", "Fpv Open", "High", "Bypass", "Bpv Close", "Bpv Open"});
}

Table with_trees(Table table) {
  return named(
      std::move(table), "cover",
      {"spruce/fir", "lodgepole pine", "ponderosa pine", "cottonwood/willow", "aspen", "Douglas fir", "krummholz"});
}

Table read_complete_adults(const DataSource& source) {
  Table table = read_adult(folder_of("adult", source)).table;
  table.keep_rows(table.complete_rows());
  return table;
}

}  // namespace

Shuttle::Shuttle(const Options&, const DataSource& source)
    : Classification(read_shuttle_rows(source), "state", real("shuttle")) {}

Covertype::Covertype(const Options&, const DataSource& source)
    : Classification(with_trees(read_full_covertype(folder_of("covertype-full", source))), "cover", real("covertype")) {
}

SmallCovertype::SmallCovertype(const Options&, const DataSource& source)
    : Classification(with_trees(read_covertype(folder_of("covertype", source))), "cover", real("covertype-15120")) {}

Adult::Adult(const Options& options, const DataSource& source)
    : Classification(read_complete_adults(source), options.target == Target::income ? "income" : "occupation",
                     real("adult")) {}

Census::Census(const Options&, const DataSource& source)
    : Classification(read_census(folder_of("census", source)), "dOccup", real("census")) {}

}  // namespace stein::envs
