// A table of one's own with classes as a bandit.
#pragma once

#include <stein/envs/classification.h>

#include <filesystem>
#include <string>
#include <vector>

namespace stein::envs {

/// Rows of a file of comma-separated values are contexts, and the classes of one of its columns are arms, as in the
/// published tables (Classification). Rows with a missing cell are left out.
class OwnTable final : public Classification {
 public:
  /// How the file is read (read_csv_table).
  struct Options {
    std::filesystem::path file{};
    std::string target{};
    std::vector<std::string> ignore{}, categorical{};

    template <class V>
    void describe(V& v) {
      v("file", file, "comma-separated values under a header, plain or gzip-compressed: a row is a context");
      v("target", target, "the column whose classes are the arms: that of the row pays 1, every other 0");
      v("ignore", ignore, "columns that are left out");
      v("categorical", categorical, "columns of numbers that are names of categories: codes of places or products");
    }
    /// So that a run finds the file from any folder.
    void make_paths_absolute();
  };

  /// @throws Error(usage) without a file or a target, and for a name that is no column; Error(data) as read_csv_table
  ///         and Classification, for a target of numbers that are not whole, unless `categorical` names it, and where
  ///         no row is complete
  OwnTable(const Options& options, const DataSource& source);

  /// A table without the rows that have a missing cell, and what a user is to be told of them.
  struct CompleteRows {
    Table table;
    std::string notice;
  };

 private:
  OwnTable(const CompleteRows& rows, const std::string& target);
};

}  // namespace stein::envs
