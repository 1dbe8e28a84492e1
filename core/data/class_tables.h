// Published tables with classes: Covertype, Shuttle, Adult.
#pragma once

#include <stein/core/data/table.h>

#include <filesystem>

namespace stein {

/// The first 15,120 rows of Covertype (Blackard & Dean 1999), 2,160 of each class: ten columns of numbers, four of
/// wilderness areas and 40 of soil types that are 0 or 1, and `cover`, the class from 1 to 7.
/// @param folder  that holds covertype_first15120.data
/// @throws Error(data) as read_csv_table; Error(io)
Table read_covertype(const std::filesystem::path& folder);

/// Statlog Shuttle: nine columns of numbers and `state`, the class from 1 to 7; 43,500 rows, then 14,500 for the test.
/// @param folder  that holds shuttle.trn and shuttle.tst
/// @throws Error(data) as read_csv_table; Error(io)
PartedTable read_shuttle(const std::filesystem::path& folder);

/// Adult (Kohavi 1996): six columns of numbers, eight of categories and `income`, <=50K or >50K; 32,561 rows, then
/// 16,281 for the test, whose labels lose the full stop behind them.
/// @param folder  that holds adult.data and adult.test
/// @throws Error(data) as read_csv_table; Error(io)
PartedTable read_adult(const std::filesystem::path& folder);

}  // namespace stein
