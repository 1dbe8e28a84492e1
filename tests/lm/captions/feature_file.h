// Files of features for tests.
#pragma once

#include <stein/core/atomic_file.h>
#include <stein/core/safetensors.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/npy_file.h"

namespace stein::lm {

/// The bytes of a .npy file: `numbers` in rows, as NumPy 1.0 writes floats.
inline std::string npy_bytes(const std::string& shape, const std::vector<float>& numbers) {
  return test::npy_bytes("<f4", "(" + shape + ")", numbers);
}

/// Writes a matrix of `rows` rows to a .npy or a .safetensors file.
inline void write_features(const std::filesystem::path& path, std::int64_t rows, const std::vector<float>& numbers) {
  const auto columns = std::ssize(numbers) / rows;
  if (path.extension() == ".npy")
    return write_file_atomically(path, npy_bytes(std::to_string(rows) + ", " + std::to_string(columns), numbers));
  Snapshot file;
  file.put("vectors", std::span<const float>(numbers), {rows, columns});
  write_safetensors(path, file);
}

}  // namespace stein::lm
