// A block of memory on a device that is not the host.
#pragma once

#include <stein/inference/storage/device.h>

#include <cstddef>
#include <utility>

namespace stein::inference {

/// Zeroed memory of a device; copies copy what is in it. The host cannot read it by its address.
class DeviceBlock {
 public:
  DeviceBlock() = default;  ///< no memory
  /// Throws Error(usage) where there is no such device, Error(io) where it has no room.
  DeviceBlock(Device device, std::size_t bytes);
  DeviceBlock(const DeviceBlock& other);
  DeviceBlock(DeviceBlock&& other) noexcept
      : device_(other.device_), bytes_(std::exchange(other.bytes_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceBlock& operator=(DeviceBlock other) noexcept {
    std::swap(device_, other.device_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceBlock();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// All of it from the host, or to the host.
  void copy_in(const void* host);
  void copy_out(void* host) const;
  /// Sets `count` floats from number `first` on.
  void fill(std::size_t first, std::size_t count, float value);

 private:
  Device device_{};
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace stein::inference
