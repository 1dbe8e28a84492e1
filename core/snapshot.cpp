#include <stein/core/error.h>
#include <stein/core/snapshot.h>

#include <cstring>
#include <numeric>

namespace stein {

std::size_t element_size(ElementType type) noexcept {
  switch (type) {
    case ElementType::float32:
    case ElementType::int32: return 4;
    case ElementType::uint8: return 1;
    default: return 8;
  }
}

void Snapshot::put_bytes(std::string_view name, ElementType type, std::span<const std::byte> bytes, std::size_t count,
                         std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(count)};
  const auto elements = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  STEIN_CHECK(elements == static_cast<std::int64_t>(count), "snapshot array '{}': shape holds {} elements, got {}",
              name, elements, count);
  put_array(std::string(name), Array{type, std::move(shape), std::vector<std::byte>(bytes.begin(), bytes.end())});
}

void Snapshot::put_array(std::string name, Array array) {
  const auto [place, inserted] = arrays_.emplace(std::move(name), std::move(array));
  STEIN_CHECK(inserted, "snapshot array '{}' is stored twice", place->first);
}

void Snapshot::put_text(std::string_view name, std::string value) {
  const auto [place, inserted] = texts_.emplace(std::string(name), std::move(value));
  STEIN_CHECK(inserted, "snapshot text '{}' is stored twice", place->first);
}

const Snapshot::Array& Snapshot::at(std::string_view name) const {
  const auto place = arrays_.find(name);
  if (place == arrays_.end()) fail(ErrorKind::data, "the saved state has no array '{}'", name);
  return place->second;
}

void Snapshot::get_bytes(std::string_view name, ElementType type, std::span<std::byte> bytes, std::size_t count) const {
  const Array& array = at(name);
  if (array.type != type) fail(ErrorKind::data, "the saved array '{}' has another element type than expected", name);
  if (array.bytes.size() != bytes.size())
    fail(ErrorKind::data, "the saved array '{}' has {} elements, expected {}", name,
         array.bytes.size() / element_size(array.type), count);
  if (!bytes.empty()) std::memcpy(bytes.data(), array.bytes.data(), bytes.size());
}

const std::string& Snapshot::get_text(std::string_view name) const {
  const auto place = texts_.find(name);
  if (place == texts_.end()) fail(ErrorKind::data, "the saved state has no text '{}'", name);
  return place->second;
}

bool Snapshot::contains(std::string_view name) const {
  return arrays_.contains(name) || texts_.contains(name);
}

std::size_t Snapshot::size_of(std::string_view name) const {
  const Array& array = at(name);
  return array.bytes.size() / element_size(array.type);
}

void Snapshot::put_part(std::string_view prefix, const Snapshot& part) {
  for (const auto& [name, array] : part.arrays_) put_array(fmt::format("{}/{}", prefix, name), array);
  for (const auto& [name, text] : part.texts_) put_text(fmt::format("{}/{}", prefix, name), text);
}

Snapshot Snapshot::part(std::string_view prefix) const {
  Snapshot result;
  const std::string start = std::string(prefix) + "/";
  for (const auto& [name, array] : arrays_)
    if (name.starts_with(start)) result.put_array(name.substr(start.size()), array);
  for (const auto& [name, text] : texts_)
    if (name.starts_with(start)) result.put_text(name.substr(start.size()), text);
  return result;
}

}  // namespace stein
