// The IDX file format of MNIST: a magic number, sizes, then one raw array of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace stein {

/// An array of bytes of one to four dimensions.
struct IdxArray {
  std::vector<std::int64_t> shape;  ///< [images, rows, columns], or [labels]
  std::vector<std::uint8_t> bytes;  ///< the last index runs fastest
};

/// Reads an array of unsigned bytes, plain or gzip-compressed. Memory is asked for as bytes arrive, and reading stops
/// behind the length that the header implies.
/// @throws Error(data) naming the file and what is wrong with it (missing, another magic number or type of elements,
///         truncated, bytes behind the array); Error(io)
IdxArray read_idx(const std::filesystem::path& path);

}  // namespace stein
