// The state of a component as named arrays in memory: what a checkpoint writes and a resumed run reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

enum class ElementType : std::uint8_t { float32, float64, int32, int64, uint64, uint8 };

/// Bytes of one element of `type`.
std::size_t element_size(ElementType type) noexcept;

template <class T>
constexpr ElementType element_type();
template <>
constexpr ElementType element_type<float>() {
  return ElementType::float32;
}
template <>
constexpr ElementType element_type<double>() {
  return ElementType::float64;
}
template <>
constexpr ElementType element_type<std::int32_t>() {
  return ElementType::int32;
}
template <>
constexpr ElementType element_type<std::int64_t>() {
  return ElementType::int64;
}
template <>
constexpr ElementType element_type<std::uint64_t>() {
  return ElementType::uint64;
}
template <>
constexpr ElementType element_type<std::uint8_t>() {
  return ElementType::uint8;
}

/// Named arrays and texts in alphabetical order. Names are paths: `policy/particles`. Copies and parts share the
/// arrays.
class Snapshot {
 public:
  /// The bytes of an array, which no longer change: copies share them.
  class Bytes {
   public:
    Bytes() : Bytes(std::vector<std::byte>()) {}
    Bytes(std::vector<std::byte> bytes) : bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}

    const std::byte* data() const { return bytes_->data(); }
    std::size_t size() const { return bytes_->size(); }
    const std::byte* begin() const { return data(); }
    const std::byte* end() const { return data() + size(); }
    bool operator==(const Bytes& other) const { return bytes_ == other.bytes_ || *bytes_ == *other.bytes_; }

   private:
    std::shared_ptr<const std::vector<std::byte>> bytes_;
  };
  /// Numbers under one name.
  struct Array {
    ElementType type;
    std::vector<std::int64_t> shape;
    Bytes bytes;
  };

  /// Stores a copy of `values` under `name`; an empty `shape` means one dimension. Throws Error(usage) if the name is
  /// taken or the shape does not match.
  template <class T>
  void put(std::string_view name, std::span<const T> values, const std::vector<std::int64_t>& shape = {}) {
    put_bytes(name, element_type<T>(), std::as_bytes(values), values.size(), shape);
  }
  template <class T>
  void put(std::string_view name, const std::vector<T>& values) {
    put(name, std::span<const T>(values));
  }
  /// Stores one number as an array of one element.
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(std::string_view name, T value) { put(name, std::span<const T>(&value, 1)); }
  void put_text(std::string_view name, std::string value);

  /// Copies the array `name` into `values`. Throws Error(data) naming the array if it is missing, or has another type
  /// or size.
  template <class T>
  void get(std::string_view name, std::span<T> values) const {
    get_bytes(name, element_type<T>(), std::as_writable_bytes(values), values.size());
  }
  template <class T>
  std::vector<T> get_vector(std::string_view name) const {
    std::vector<T> values(size_of(name));
    get(name, std::span<T>(values));
    return values;
  }
  template <class T>
  T get_scalar(std::string_view name) const {
    T value{};
    get(name, std::span<T>(&value, 1));
    return value;
  }
  const std::string& get_text(std::string_view name) const;

  bool contains(std::string_view name) const;
  /// Number of elements of the array `name`; throws Error(data) if it is missing.
  std::size_t size_of(std::string_view name) const;

  /// Adds everything of `part` with `prefix/` before each name.
  void put_part(std::string_view prefix, const Snapshot& part);
  /// Adds what `component` saves of itself, under the same prefix.
  template <class Component>
  void put_saved(std::string_view prefix, const Component& component) {
    Snapshot part;
    component.save(part);
    put_part(prefix, part);
  }
  /// Everything whose name starts with `prefix/`, without the prefix.
  Snapshot part(std::string_view prefix) const;

  const std::map<std::string, Array, std::less<>>& arrays() const { return arrays_; }
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  /// Stores an array whose bytes are there already. Throws Error(usage) if the name is taken.
  void put_array(std::string name, Array array);

 private:
  void put_bytes(std::string_view name, ElementType type, std::span<const std::byte> bytes, std::size_t count,
                 std::vector<std::int64_t> shape);
  void get_bytes(std::string_view name, ElementType type, std::span<std::byte> bytes, std::size_t count) const;
  const Array& at(std::string_view name) const;

  std::map<std::string, Array, std::less<>> arrays_;
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace stein
