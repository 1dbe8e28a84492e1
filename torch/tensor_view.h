// LibTorch tensors over numbers that lie in our buffers; nothing is copied. For code that uses LibTorch itself: it
// costs what ATen/ATen.h costs.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/matrix_view.h>

#include <type_traits>

namespace stein::inference {

/// What LibTorch calls a device. To LibTorch the fenced device of the tests is the host.
inline at::Device tensor_device(Device device) {
  return device.kind == Device::Kind::cuda ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index))
                                           : at::Device(at::kCPU);
}

/// The element type of tensors of `Number`, and where they lie.
template <class Number>
at::TensorOptions tensor_options(Device device = {}) {
  return at::TensorOptions()
      .dtype(c10::CppTypeToScalarType<std::remove_const_t<Number>>::value)
      .device(tensor_device(device));
}

/// `matrix`, which lies on `device`, as a tensor [rows, columns].
template <class Number>
at::Tensor tensor_view(MatrixView<Number> matrix, Device device = {}) {
  return at::from_blob(const_cast<std::remove_const_t<Number>*>(matrix.data), {matrix.rows, matrix.columns},
                       {matrix.stride, 1}, tensor_options<Number>(device));
}

/// Numbers of the host on a device. They may change as soon as it returns, and nobody waits for a GPU: what goes there
/// lies in page-locked memory, which LibTorch keeps until the copy is over.
inline at::Tensor sent_to(at::Device device, const at::Tensor& numbers) {
  if (!device.is_cuda()) return numbers.to(device);
  return numbers.contiguous().pin_memory().to(at::TensorOptions(device), /*non_blocking=*/true);
}

/// The parameter `entry` of every row of `rows`: [m, entry.rows(), entry.columns()], padding left out.
template <class Number>
at::Tensor entry_view(MatrixView<Number> rows, const LayoutEntry& entry) {
  return at::from_blob(const_cast<std::remove_const_t<Number>*>(rows.data) + entry.offset,
                       {rows.rows, entry.rows(), entry.columns()}, {rows.stride, entry.row_stride, 1},
                       tensor_options<Number>());
}

}  // namespace stein::inference
