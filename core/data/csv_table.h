// Tables of strangers: comma-separated values under a header.
#pragma once

#include <stein/core/data/table.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// The number that `cell` says, in full; NaN for a cell that is missing; nothing for any other text. Infinite numbers
/// are texts.
std::optional<double> number_in(std::string_view cell);

/// Whether a cell stands for a value that nobody knows: empty, `?`, `NA`, `N/A`, `nan`, `null` or `none`, in letters of
/// any case.
bool is_missing(std::string_view cell);

/// How a file of comma-separated values is to be read.
struct CsvForm {
  std::vector<std::string> categorical{};  ///< columns whose numbers are names of categories
  std::string classes{};                   ///< a column of classes, if it is there: names, whatever they look like
  std::vector<std::string> ignore{};       ///< columns that are left out, whatever they hold
  std::vector<std::string> header{};       ///< names of the columns of a file whose first line is a row already
  char comment = '\0';                     ///< lines that begin with it are passed over
};

/// Reads a table of RFC 4180, plain or gzip-compressed: a header with the names of the columns, then a line a row. What
/// separates the fields is the comma, the semicolon or the tab that the header has most of; the comma where the form
/// has the header.
///
/// A column is one of numbers where every cell that is not missing is a number, and where it is not to be one of
/// categories; any other is one of categories, sorted by value where all are whole numbers, else by the alphabet,
/// unless most of its cells are numbers: then those that are none are taken for mistakes. A column without any value is
/// one of numbers, all missing. Empty lines are passed over.
///
/// The file is read twice: to see what columns are, then to keep their cells.
/// @throws Error(data) naming file and line: no header, a column without a name or with one that another has, a row
/// with
///         more or fewer fields than the header, text that is no UTF-8, a text among numbers, a column with more than
///         `most_categories` texts; Error(data) for a file without rows; Error(usage) for a name in `categorical` or
///         `ignore` that is no column
Table read_csv_table(const std::filesystem::path& path, const CsvForm& form = {});

/// Names of the columns of a table with a header, in order. Throws Error(data) as read_csv_table does for a header.
std::vector<std::string> csv_column_names(const std::filesystem::path& path);

/// The comma, the semicolon or the tab: which of them the header has most of.
char separator_of(std::string_view header);

/// Headers with more columns are refused.
inline constexpr std::size_t most_csv_columns = 100'000;
/// More texts than this in one column are no categories but names or sentences.
inline constexpr std::int64_t most_categories = 1000;

}  // namespace stein
