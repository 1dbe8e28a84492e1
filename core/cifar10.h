// The binary version of CIFAR-10: files of records, a label and an image each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// Images of one file.
struct Cifar10Batch {
  static constexpr std::int64_t channels = 3, height = 32, width = 32, classes = 10;

  std::vector<std::uint8_t> labels{};  ///< [n], from 0 to 9
  std::vector<std::uint8_t> pixels{};  ///< [n, 3, 32, 32]: red, green, blue
};

/// Reads a file of records of 3,073 bytes, plain or gzip-compressed (Krizhevsky 2009): a label, then the pixels.
/// @throws Error(data) naming the file and what is wrong with it: missing, no record, a record that is cut, a label
///         above 9 and the record that has it; Error(io)
Cifar10Batch read_cifar10_batch(const std::filesystem::path& path);

/// The same for the bytes of a file in memory; `origin` stands for the path in messages.
Cifar10Batch decode_cifar10_batch(std::string_view bytes, const std::string& origin);

}  // namespace stein
