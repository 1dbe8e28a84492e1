// A table with what is to be predicted from what, and the parts that it comes in.
#pragma once

#include <stein/core/data/table.h>
#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/supervised/network/minibatch_scale.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace stein::supervised {

/// A table, its target and the columns that the target is predicted from.
struct TableSet {
  std::string name;
  Table table;
  std::size_t target = 0;             ///< a column of the table
  std::vector<std::size_t> inputs{};  ///< columns, without the target
  /// Test rows of published splits, one list a split, each in ascending order; the others are for training.
  std::vector<std::vector<std::int64_t>> splits{};
  /// The first row of a test part that the set has, behind all others; 0: it has none.
  std::int64_t given_test = 0;
  bool synthetic = false;  ///< made up, its truth is known
};

/// What is predicted of a row.
enum class TargetKind { number, category };

struct TableOptions;

/// A registered set: its line in `stein list`, what it has of parts, and how it is read.
struct TableSetEntry {
  std::string description;
  TargetKind target = TargetKind::number;
  std::int64_t splits = 0;  ///< published ones
  bool given_test = false;  ///< it has a test part
  bool synthetic = false;   ///< made up, its truth is known
  std::function<TableSet(const TableOptions&)> read;
};

/// Which table, and how its rows are parted.
struct TableOptions {
  /// Which splits a set with published ones takes.
  enum class Splits { published, random };

  std::string data;  ///< a registered name, or a file
  std::filesystem::path data_folder{}, test_data{};
  std::string target{}, test_target{};
  std::vector<std::string> ignore{}, categorical{};
  Splits splits = Splits::published;
  double test_share = 0.1, validation_share = 0.1;
  std::int64_t split_seed = 0;
  MinibatchScale normalisation = MinibatchScale::of_set;  ///< of classifiers
  std::int64_t synthetic_rows = 400;

  bool is_file() const;
  /// Whether it is a file of arrays: .npy or .safetensors.
  bool is_arrays() const;
  /// What is registered under the name; null for a file, and where there is none.
  const TableSetEntry* entry() const;
  bool is_synthetic() const { return entry() != nullptr && entry()->synthetic; }
  bool has_published_splits() const { return entry() != nullptr && entry()->splits > 0; }
  /// Whether every seed has a test part of its own; else all have that of the data.
  bool has_own_splits() const { return is_file() ? test_data.empty() : entry() == nullptr || !entry()->given_test; }

  /// The options that mean something for `data` and `test_data`, which are to be set before; `target` and `test_data`
  /// are there for all, and refused when a table is read that is no file.
  template <class V>
  void describe(V& v, TargetKind kind) {
    v("data", data, data_help(kind));
    v("target", target,
      "of a file of your own: the column that is predicted; of features in a .npy file: the .npy file of what is "
      "predicted; in a .safetensors file: the name of that array, beside 'features'");
    v("test_data", test_data,
      "of a file of your own: a table with the same columns for the test; empty: rows of the same file, drawn for each "
      "seed");
    if (is_arrays()) {
      v("test_target", test_target, "of features for the test in a .npy file: the .npy file of what is predicted");
    } else if (is_file()) {
      v("ignore", ignore, "columns that are left out");
      v("categorical", categorical, "columns of numbers that are names of categories: codes of places or products");
    } else if (is_synthetic()) {
      v("synthetic_rows", synthetic_rows, "rows that are made up", between(20, 1e7), "rows");
    } else {
      v("data_folder", data_folder, "folder with data sets; empty: $STEIN_DATA, then the user's cache");
    }
    if (has_published_splits())
      v("splits", splits,
        "published: seed s is tested on split s of the publisher; random: on rows drawn from split_seed and s",
        {{"published", Splits::published}, {"random", Splits::random}});
    if (has_own_splits())
      v("test_share", test_share, "share of the rows which is for the test, where that is drawn",
        Range{.low = 0, .high = 1, .low_open = true, .high_open = true});
    v("validation_share", validation_share, "share of the rows that are not for the test which is for validation",
      Range{.low = 0, .high = 0.5});
    v("split_seed", split_seed, "seed of the rows that are drawn, with that of the run", at_least(0));
    if (kind == TargetKind::category)
      v("normalisation", normalisation,
        "of which rows the columns have mean 0 and sd 1 in training: of all of training, or of the minibatch that is "
        "learned (Hernández et al. 2020)",
        {{"training", MinibatchScale::of_set}, {"minibatch", MinibatchScale::of_minibatch}});
  }

 private:
  static std::string data_help(TargetKind kind);
};

/// All tables that are linked in.
Registry<TableSetEntry>& table_sets();

/// Names of the registered tables with such a target.
std::vector<std::string> table_names(TargetKind kind);

/// Reads what the options say.
/// @throws Error(usage) for a name that is neither registered nor a file, suggesting the nearest, for a registered set
///         with another kind of target, and for columns that the table does not have; Error(data) for a set that is
///         missing or damaged, as read_csv_table, for a target without a value in some row (naming the row), for a
///         target of texts where a number is to be predicted, for a test file that lacks a column, and for a class that
///         only the test file has
TableSet read_table_set(const TableOptions& options, TargetKind kind);

}  // namespace stein::supervised
