#include <stein/core/safetensors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>

namespace stein {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

using Json = nlohmann::ordered_json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::uint64_t longest_header = 100'000'000;  // the limit of the reference implementation [bytes]
constexpr int deepest_header =
    4;  // metadata and the numbers of a shape are less deep; deep JSON is copied call by call
constexpr std::array all_types{ElementType::float64, ElementType::float32, ElementType::int64,
                               ElementType::int32,   ElementType::uint64,  ElementType::uint8};

using NamedArray = std::pair<const std::string, Snapshot::Array>;

/// Larger elements first, so that every array stays aligned to its element size; within a size by name.
std::vector<const NamedArray*> in_file_order(const Snapshot& snapshot) {
  std::vector<const NamedArray*> order;
  for (const NamedArray& entry : snapshot.arrays()) order.push_back(&entry);
  std::ranges::stable_sort(order, std::greater<>(), [](const NamedArray* e) { return element_size(e->second.type); });
  return order;
}

Json make_metadata(const Snapshot& snapshot, const SafetensorsMetadata& metadata) {
  Json texts = Json::object();
  SafetensorsMetadata all(snapshot.texts().begin(), snapshot.texts().end());
  for (const auto& [name, text] : metadata) {
    STEIN_CHECK(all.emplace(name, text).second, "safetensors: the text '{}' is given twice", name);
  }
  for (const auto& [name, text] : all) texts[name] = text;
  return texts;
}

std::string make_header(const std::vector<const NamedArray*>& order, Json metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(metadata_key)] = std::move(metadata);
  std::size_t offset = 0;
  for (const NamedArray* entry : order) {
    const auto& [name, array] = *entry;
    STEIN_CHECK(name != metadata_key, "safetensors: no array may be named '{}'", metadata_key);
    const std::size_t end = offset + array.bytes.size();
    header[name] =
        Json{{"dtype", safetensors_name(array.type)}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    fail(ErrorKind::usage, "safetensors: a name or text is not UTF-8 ({})", error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the arrays start at a multiple of 8 bytes
  return text;
}

/// Calls write(bytes) for one part of the file after the other.
template <class Write>
void put_together(const Snapshot& snapshot, const SafetensorsMetadata& metadata, const Write& write) {
  const std::vector<const NamedArray*> order = in_file_order(snapshot);
  const std::string header = make_header(order, make_metadata(snapshot, metadata));
  const std::uint64_t length = header.size();
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header)));
  for (const NamedArray* entry : order) write(std::span<const std::byte>(entry->second.bytes));
}

/// One entry of the header, checked in itself.
struct Entry {
  std::string name;
  ElementType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin, end;
};

/// A name or a text of the header for messages: of one line, whatever is in it.
std::string shown(const std::string& text) {
  const std::string quoted = Json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

class Decoder {
 public:
  Decoder(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  Snapshot decode() {
    const Json header = parse_header();
    Snapshot snapshot;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == metadata_key) {
        read_metadata(value, snapshot);
      } else {
        entries.push_back(read_entry(name, value));
      }
    }
    check_cover(entries);
    for (Entry& entry : entries) {
      const auto* first = reinterpret_cast<const std::byte*>(data_.data());
      snapshot.put_array(std::move(entry.name), {entry.type, std::move(entry.shape),
                                                 std::vector<std::byte>(first + entry.begin, first + entry.end)});
    }
    return snapshot;
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::data, "'{}' is no valid safetensors file: {}", origin_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  Json parse_header() {
    std::uint64_t length = 0;
    if (bytes_.size() < sizeof(length)) refuse("it has {} bytes, too few for the header's length", bytes_.size());
    std::memcpy(&length, bytes_.data(), sizeof(length));
    if (length > longest_header) refuse("its header claims {} bytes, more than the format allows", length);
    if (length > bytes_.size() - sizeof(length)) {
      refuse("its header claims {} bytes, but only {} follow", length, bytes_.size() - sizeof(length));
    }
    const std::string_view text = bytes_.substr(sizeof(length), length);
    data_ = bytes_.substr(sizeof(length) + length);

    std::set<std::string> names;
    const auto refuse_duplicates = [&](int depth, Json::parse_event_t event, Json& value) {
      if (depth > deepest_header)
        refuse("its header has lists or objects nested deeper than {} levels", deepest_header);
      if (depth == 1 && event == Json::parse_event_t::key && !names.insert(value.get<std::string>()).second) {
        refuse("the name '{}' is given twice", shown(value.get<std::string>()));
      }
      return true;
    };
    try {
      Json header = Json::parse(text, refuse_duplicates);
      if (!header.is_object()) refuse("its header is no JSON object");
      return header;
    } catch (const Json::exception&) {  // whose message repeats the header, which may be any bytes
      refuse("its header is not JSON");
    }
  }

  void read_metadata(const Json& value, Snapshot& snapshot) const {
    if (!value.is_object()) refuse("its {} is no JSON object", metadata_key);
    for (const auto& [name, text] : value.items()) {
      if (!text.is_string()) refuse("the text '{}' is not a string", shown(name));
      snapshot.put_text(name, text.get<std::string>());
    }
  }

  Entry read_entry(const std::string& name, const Json& value) const {
    if (!value.is_object()) refuse("the entry of array '{}' is no JSON object", shown(name));
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!value.contains(key)) refuse("array '{}' has no '{}'", shown(name), key);
    }
    Entry entry{.name = name, .type = read_type(name, value["dtype"]), .shape = {}, .begin = 0, .end = 0};
    for (const std::uint64_t size : read_numbers(name, value["shape"]))
      entry.shape.push_back(static_cast<std::int64_t>(size));
    const std::vector<std::uint64_t> offsets = read_numbers(name, value["data_offsets"]);
    if (offsets.size() != 2 || offsets[0] > offsets[1]) refuse("array '{}' has malformed data_offsets", shown(name));
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (entry.end > data_.size()) {
      refuse("array '{}' ends at byte {}, but only {} bytes of data are there (truncated?)", shown(name), entry.end,
             data_.size());
    }
    const std::optional<std::uint64_t> expected = size_in_bytes(entry);
    if (expected != entry.end - entry.begin) {
      refuse("array '{}' of type {} and shape [{}] cannot have {} bytes", shown(name), safetensors_name(entry.type),
             fmt::join(entry.shape, ", "), entry.end - entry.begin);
    }
    return entry;
  }

  ElementType read_type(const std::string& name, const Json& value) const {
    for (const ElementType type : all_types) {
      if (value == safetensors_name(type)) return type;
    }
    refuse("array '{}' has the unknown type {}; known are F64, F32, I64, I32, U64, U8", shown(name), value.dump());
  }

  std::vector<std::uint64_t> read_numbers(const std::string& name, const Json& value) const {
    if (!value.is_array()) refuse("shape or data_offsets of array '{}' is no JSON array", shown(name));
    std::vector<std::uint64_t> numbers;
    for (const Json& number : value) {
      if (!number.is_number_unsigned())
        refuse("array '{}' has {} where a size is expected", shown(name), number.dump());
      numbers.push_back(number.get<std::uint64_t>());
      if (numbers.back() > std::uint64_t{1} << 62)
        refuse("array '{}' has the absurd size {}", shown(name), numbers.back());
    }
    return numbers;
  }

  /// Elements times element size; nothing where that overflows.
  static std::optional<std::uint64_t> size_in_bytes(const Entry& entry) {
    std::uint64_t size = element_size(entry.type);
    for (const std::int64_t extent : entry.shape) {
      if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size)) return std::nullopt;
    }
    return size;
  }

  /// The arrays must cover the data section exactly: no overlap, no hole, nothing after the last.
  void check_cover(std::vector<Entry>& entries) const {
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
    std::uint64_t covered = 0;
    for (const Entry& entry : entries) {
      if (entry.begin < covered) refuse("array '{}' overlaps another at byte {}", shown(entry.name), entry.begin);
      if (entry.begin > covered) refuse("bytes {} to {} belong to no array", covered, entry.begin);
      covered = entry.end;
    }
    if (covered != data_.size()) refuse("bytes {} to {} belong to no array", covered, data_.size());
  }

  std::string_view bytes_;
  std::string_view data_;
  const std::string& origin_;
};

}  // namespace

std::string_view safetensors_name(ElementType type) noexcept {
  switch (type) {
    case ElementType::float64: return "F64";
    case ElementType::float32: return "F32";
    case ElementType::int64: return "I64";
    case ElementType::int32: return "I32";
    case ElementType::uint64: return "U64";
    case ElementType::uint8: return "U8";
  }
  return "";
}

void check_safetensors_path(const std::filesystem::path& path, std::string_view option) {
  STEIN_CHECK(path.extension() == ".safetensors", "{} expects a path that ends in .safetensors, got '{}'", option,
              path.string());
  STEIN_CHECK(std::filesystem::absolute(path).parent_path().filename() != "checkpoints",
              "{} {}: what lies in a folder 'checkpoints' is a run's own; name another place", option, path.string());
}

void write_safetensors(const std::filesystem::path& path, const Snapshot& snapshot,
                       const SafetensorsMetadata& metadata) {
  AtomicFile file(path);
  put_together(snapshot, metadata, [&](auto bytes) { file.write(bytes); });
  file.commit();
}

std::string encode_safetensors(const Snapshot& snapshot) {
  std::string bytes;
  put_together(snapshot, {}, [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return bytes;
}

Snapshot read_safetensors(const std::filesystem::path& path) {
  return decode_safetensors(read_file(path, std::uint64_t{1} << 36), path.string());
}

Snapshot decode_safetensors(std::string_view bytes, const std::string& origin) {
  return Decoder(bytes, origin).decode();
}

}  // namespace stein
