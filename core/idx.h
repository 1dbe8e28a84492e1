// The IDX file format of MNIST: a magic number, sizes, then one raw array of bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// An array of bytes of one to four dimensions.
struct IdxArray {
  std::vector<std::int64_t> shape;  ///< [images, rows, columns], or [labels]
  std::vector<std::uint8_t> bytes;  ///< the last index runs fastest
};

/// Reads an array of unsigned bytes, plain or gzip-compressed. The length that the header implies is compared with the
/// length of the file before memory is asked for.
/// @throws Error(data) naming the file and what is wrong with it (missing, another magic number or type of elements,
///         truncated, bytes behind the array); Error(io)
IdxArray read_idx(const std::filesystem::path& path);

/// The same for the bytes of a file in memory; `origin` stands for the path in messages.
IdxArray decode_idx(std::string_view bytes, const std::string& origin);

}  // namespace stein
