// Products of matrices on a device, many of one shape at once: what large perceptrons are made of there. A table of
// functions that a library of the device brings; without it perceptrons do without.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/precision.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <string_view>

namespace stein::inference {

/// One matrix of each product, rows end to end: number (r, c) of matrix i is data[i · step + r · stride + c].
template <class T>
struct ProductMatrix {
  T* data = nullptr;
  std::int64_t stride = 0;  ///< from row to row
  std::int64_t step = 0;    ///< from matrix to matrix; 0: all products have the same
  bool turned = false;      ///< its transpose is multiplied
};

/// C_i = A_i B_i, or C_i + A_i B_i, for every i; A_i is [rows, inner], B_i [inner, columns], C_i [rows, columns].
struct BatchedProduct {
  std::int64_t count = 0;  ///< of products
  std::int64_t rows = 0, columns = 0, inner = 0;
  ProductMatrix<const float> a{}, b{};
  ProductMatrix<float> c{};  ///< never turned, each its own
  bool adds = false;         ///< to what is in C
  Precision precision = Precision::single;
};

/// Products on one kind of device; `index` is which of its kind.
struct ProductDriver {
  std::string_view name;  ///< "cuda"
  /// Factors are rounded as the precision says, and summed in single precision, with the same bits every time on the
  /// same kind of device. Need not be over when it returns. Throws Error(io) with the device's reason where it refuses.
  void (*multiply)(std::int32_t index, const BatchedProduct& product);
};

/// Drivers by the name of their kind of device; empty until their library is loaded.
Registry<const ProductDriver*>& product_drivers();

/// The driver of a device, whose library is loaded for it; null where Stein was built without that, or where it cannot
/// be loaded because what it needs is not installed.
const ProductDriver* product_driver(Device device);

}  // namespace stein::inference
