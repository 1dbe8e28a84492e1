// A block of numbers on a cache-line boundary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace stein::inference {

/// The stride of rows of `columns` numbers that each begin on a 64-byte boundary of an AlignedBuffer: whole vectors of
/// 16, the widest there are, may be read and written past a row's end.
constexpr std::int64_t padded_columns(std::int64_t columns) {
  constexpr std::int64_t widest = 16;
  return (columns + widest - 1) / widest * widest;
}

/// `size` zeroed numbers on a 64-byte boundary; copies copy the numbers.
template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size)
      : size_(size),
        data_(size == 0 ? nullptr : static_cast<T*>(::operator new (size * sizeof(T), std::align_val_t{64}))) {
    if (size_ != 0) std::memset(static_cast<void*>(data_.get()), 0, size_ * sizeof(T));
  }
  AlignedBuffer(const AlignedBuffer& other) : AlignedBuffer(other.size_) {
    if (size_ != 0) std::memcpy(static_cast<void*>(data_.get()), other.data_.get(), size_ * sizeof(T));
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept : size_(std::exchange(other.size_, 0)), data_(std::move(other.data_)) {}
  AlignedBuffer& operator=(AlignedBuffer other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Release {
    void operator()(T* pointer) const { ::operator delete (static_cast<void*>(pointer), std::align_val_t{64}); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T, Release> data_;
};

}  // namespace stein::inference
