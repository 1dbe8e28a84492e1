// Files of arrays for tests.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/written_file.h"

namespace stein::test {

/// The bytes of a .npy file of version 1.0.
/// @param type   NumPy's name of the type of the elements, such as "<f4"
/// @param shape  as Python writes it, such as "(2, 3)"
template <class T>
std::string npy_bytes(const std::string& type, const std::string& shape, const std::vector<T>& numbers) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118 - 1, ' ');  // with the ten bytes before it a multiple of 64, its last a line end
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  const auto raw = std::as_bytes(std::span(numbers));
  return bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
}

/// Writes such a file; its path.
template <class T>
std::filesystem::path write_npy(const std::filesystem::path& path, const std::string& type, const std::string& shape,
                                const std::vector<T>& numbers) {
  return write(path, npy_bytes(type, shape, numbers));
}

}  // namespace stein::test
