// Published tables with classes: Covertype, Shuttle, Adult, US Census 1990.
#pragma once

#include <stein/core/data/table.h>

#include <cstdint>
#include <filesystem>

namespace stein {

/// Rows of covtype.data.
inline constexpr std::int64_t full_covertype_rows = 581'012;
/// Rows of USCensus1990.data.txt.
inline constexpr std::int64_t census_rows = 2'458'285;

/// The first 15,120 rows of Covertype (Blackard & Dean 1999), 2,160 of each class: ten columns of numbers, four of
/// wilderness areas and 40 of soil types that are 0 or 1, and `cover`, the class from 1 to 7.
/// @param folder  that holds covertype_first15120.data
/// @throws Error(data) as read_csv_table; Error(io)
Table read_covertype(const std::filesystem::path& folder);

/// Covertype as a whole: 54 columns and `cover` as above, one row a line, comma-separated, without a header.
/// @param folder         that holds covtype.data
/// @param expected_rows  of the file
/// @throws Error(data) as read_csv_table, or if the file has another number of rows; Error(io)
Table read_full_covertype(const std::filesystem::path& folder, std::int64_t expected_rows = full_covertype_rows);

/// Statlog Shuttle: nine columns of numbers and `state`, the class from 1 to 7; 43,500 rows, then 14,500 for the test.
/// @param folder  that holds shuttle.trn and shuttle.tst
/// @throws Error(data) as read_csv_table; Error(io)
PartedTable read_shuttle(const std::filesystem::path& folder);

/// Adult (Kohavi 1996): six columns of numbers, eight of categories and `income`, <=50K or >50K; 32,561 rows, then
/// 16,281 for the test, whose labels lose the full stop behind them.
/// @param folder  that holds adult.data and adult.test
/// @throws Error(data) as read_csv_table; Error(io)
PartedTable read_adult(const std::filesystem::path& folder);

/// US Census 1990, the one percent sample of the UCI repository with all columns discretised: 68 columns of categories,
/// whole numbers, under a header with their names; `caseid`, which is another for every person, is left out.
/// Takes 4 bytes a cell: 670 MB for the whole file.
/// @param folder         that holds USCensus1990.data.txt
/// @param expected_rows  of the file
/// @throws Error(data) as read_csv_table, or if the file has another number of rows; Error(io)
Table read_census(const std::filesystem::path& folder, std::int64_t expected_rows = census_rows);

}  // namespace stein
