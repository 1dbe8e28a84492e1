// NumPy's .npy file format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): a magic, a header
// that is the text of a Python dictionary, then one raw array. No part of such a file is ever executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stein/core/snapshot.h>

namespace stein {

/// An array of numbers read from a .npy file.
struct NpyArray {
  ElementType type;                 ///< type of the elements; booleans are uint8, each 0 or 1
  std::vector<std::int64_t> shape;  ///< extent of each dimension; empty for a scalar
  std::vector<std::byte> bytes;     ///< the elements in C order: the last index runs fastest
  std::string origin;               ///< path of the file, for messages

  /// Number of elements.
  std::size_t size() const { return bytes.size() / element_size(type); }

  /// The elements, of the type that is stored. @throws Error(data) naming both types if the array holds another one
  template <class T>
  std::span<const T> as() const {
    check_type(element_type<T>());
    return {reinterpret_cast<const T*>(bytes.data()), size()};
  }

  /// The elements as floats, whatever number type is stored, each rounded to the nearest float.
  /// @throws Error(data) naming the first element that is finite and lies beyond the range of a float
  std::vector<float> to_floats() const;

 private:
  void check_type(ElementType expected) const;
};

/// Reads an array of type `<f4`, `<f8`, `<i4`, `<i8`, `<u8`, `|u1` or `|b1`, of any shape, in a file of version 1.0,
/// 2.0 or 3.0. Fortran order becomes C order, which needs the memory of the array twice. The length that the header
/// implies is compared with the length of the file before memory is asked for.
/// @throws Error(data) naming the file and what is wrong with it (missing, larger than 64 GiB, truncated, bytes behind
///         the array, damaged header, another element type such as big-endian numbers, structures, or the pickles of
///         Python objects); Error(io)
NpyArray read_npy(const std::filesystem::path& path);

/// The same for the bytes of a file in memory; `origin` stands for the path in messages.
NpyArray decode_npy(std::string_view bytes, const std::string& origin);

}  // namespace stein
