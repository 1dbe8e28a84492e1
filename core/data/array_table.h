// Tables of strangers that are arrays: features that somebody has computed, and what is to be predicted from them.
#pragma once

#include <stein/core/data/table.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace stein {

/// Whether a file's name says that it has arrays: it ends in .npy or .safetensors.
bool means_arrays(const std::filesystem::path& path);

/// Reads columns of numbers x0, x1, … of an array [rows, columns], and the column `target` of another one, [rows] or
/// [rows, 1]. A NaN is a missing cell.
/// @param features    a .npy file, or a .safetensors file with the array `features`
/// @param target      the other .npy file, or the name of the other array of the .safetensors file
/// @param categories  whether the target's numbers are classes, which are sorted by value
/// @throws Error(data) naming the file and what is wrong with it: as read_npy and read_safetensors, an array of another
///         shape, no rows or columns, an infinite number and its row, a class that is no whole number or has more than
///         15 digits, more than `most_categories` classes; Error(usage) for a name of neither ending; Error(io)
Table read_array_table(const std::filesystem::path& features, const std::string& target, bool categories);

}  // namespace stein
