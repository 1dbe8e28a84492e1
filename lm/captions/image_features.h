// Features of images from a file: a row of numbers for each image, and the ids of the rows.
#pragma once

#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stein::lm {

/// The matrix [images, F] in a .npy file, or in a .safetensors file: its only array, or that called `features`. Numbers
/// of any type become floats.
/// @throws Error(data) naming the file and what is wrong: another ending, several arrays, another number of dimensions,
///         no row or no column, the row and column of a number that is not finite, and as read_npy and read_safetensors
inference::Matrix<float> read_image_features(const std::filesystem::path& path);

/// Throws Error(data) naming the file unless its features are as wide as a network reads them.
void check_feature_width(const std::filesystem::path& path, std::int64_t found, std::int64_t expected);

/// The ids of the rows of a file of features: lines of a .txt file, or the list of texts that a .json file is.
/// @throws Error(data) naming the file, for another ending, no id, an empty id, an id that is there twice, text that is
/// no
///         UTF-8, and JSON of another form
std::vector<std::string> read_image_ids(const std::filesystem::path& path);

/// Where the ids of `features` lie if nothing else is said: the file with the same name but for the ending .txt or
/// .json.
/// @throws Error(data) if there is none, or both
std::filesystem::path ids_beside(const std::filesystem::path& features);

}  // namespace stein::lm
