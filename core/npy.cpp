#include <stein/core/npy.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <stein/core/error.h>
#include <stein/core/input_file.h>

namespace stein {
namespace {

static_assert(std::endian::native == std::endian::little, "the element types read here are little-endian");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 16;  // a shape of 64 dimensions fits many times [bytes]
constexpr std::uint64_t largest_file = std::uint64_t{1} << 36;
constexpr std::size_t most_dimensions = 64;  // the limit of NumPy 2
constexpr std::string_view readable_types = "<f4, <f8, <i4, <i8, <u8, |u1 or |b1";

struct NamedType {
  std::string_view name;
  ElementType type;
};

constexpr std::array named_types{NamedType{"<f4", ElementType::float32}, NamedType{"<f8", ElementType::float64},
                                 NamedType{"<i4", ElementType::int32},   NamedType{"<i8", ElementType::int64},
                                 NamedType{"<u8", ElementType::uint64},  NamedType{"|u1", ElementType::uint8},
                                 NamedType{"<u1", ElementType::uint8},  // as C++ writers name it: one byte has no order
                                 NamedType{"|b1", ElementType::uint8},   NamedType{"<b1", ElementType::uint8}};

std::string_view numpy_name(ElementType type) {
  return std::ranges::find(named_types, type, &NamedType::type)->name;
}

/// The start of `text` for a message: a damaged header may hold any bytes.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > longest ? shown + "…" : shown;
}

/// What the header of a file says.
struct Header {
  std::string type_name;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

template <class... Args>
[[noreturn]] void refuse(const std::string& origin, fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorKind::data, "'{}' is no valid .npy file: {}", origin, fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void refuse_type(const std::string& origin, std::string_view found) {
  fail(ErrorKind::data, "'{}': expected elements of type {}, found {}", origin, readable_types, found);
}

/// Parser of the Python dictionary in a header: three keys, each once, in any order, and nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  Header parse() {
    std::optional<std::string> type_name;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = read_text();
      expect(':');
      if (key == "descr") {
        store(key, type_name, read_type());
      } else if (key == "fortran_order") {
        store(key, fortran_order, read_boolean());
      } else if (key == "shape") {
        store(key, shape, read_shape());
      } else {
        refuse(origin_, "its header has the key '{}'; known are descr, fortran_order and shape", printable(key));
      }
      if (!accept(',') && peek() != '}') refuse_here("',' or '}'");
    }
    if (peek() != end) refuse_here("nothing but spaces");
    if (!type_name) refuse(origin_, "its header has no 'descr'");
    if (!fortran_order) refuse(origin_, "its header has no 'fortran_order'");
    if (!shape) refuse(origin_, "its header has no 'shape'");
    return {.type_name = *std::move(type_name), .fortran_order = *fortran_order, .shape = *std::move(shape)};
  }

 private:
  static constexpr char end = '\0';  ///< what `peek` gives behind the last character; no character of a header

  template <class T>
  void store(std::string_view key, std::optional<T>& place, T value) {
    if (place) refuse(origin_, "its header has the key '{}' twice", key);
    place = std::move(value);
  }

  [[noreturn]] void refuse_here(std::string_view expected) {
    const std::string_view rest = text_.substr(place_);
    refuse(origin_, "byte {} of its header: expected {}, found {}", place_, expected,
           rest.empty() ? "the end" : fmt::format("'{}'", printable(rest)));
  }

  /// The next character that is no space.
  char peek() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n')) ++place_;
    if (place_ == text_.size()) return end;
    if (text_[place_] == end) refuse_here("text");
    return text_[place_];
  }

  bool accept(char character) {
    if (peek() != character) return false;
    ++place_;
    return true;
  }

  void expect(char character) {
    if (!accept(character)) refuse_here(fmt::format("'{}'", character));
  }

  bool accept_word(std::string_view word) {
    static_cast<void>(peek());
    if (!text_.substr(place_).starts_with(word)) return false;
    place_ += word.size();
    return true;
  }

  /// A text in quotes. Nothing that is read here has an escape in it.
  std::string_view read_text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse_here("a text in quotes");
    const std::size_t closing = text_.find(quote, place_ + 1);
    if (closing == std::string_view::npos) refuse_here("a text in quotes");
    const std::string_view text = text_.substr(place_ + 1, closing - place_ - 1);
    place_ = closing + 1;
    return text;
  }

  std::string read_type() {
    if (peek() == '[' || peek() == '(') refuse_type(origin_, "a structure of several");
    return std::string(read_text());
  }

  bool read_boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    refuse_here("True or False");
  }

  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) refuse_here("','");
      if (shape.size() == most_dimensions) refuse(origin_, "its shape has more than {} dimensions", most_dimensions);
      shape.push_back(read_extent());
      comma = accept(',');
    }
    if (shape.size() == 1 && !comma) refuse(origin_, "its shape is a number in brackets, expected ({},)", shape[0]);
    return shape;
  }

  std::int64_t read_extent() {
    const char first = peek();
    if (first < '0' || first > '9') refuse_here("the size of a dimension");
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text_.data() + place_, text_.data() + text_.size(), extent);
    if (error != std::errc{}) refuse_here("a size of at most 2^63 - 1");
    place_ = static_cast<std::size_t>(stop - text_.data());
    return extent;
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t place_ = 0;
};

ElementType find_type(std::string_view name, const std::string& origin) {
  const auto* const known = std::ranges::find(named_types, name, &NamedType::name);
  if (known != named_types.end()) return known->type;
  const bool is_object = name.size() > 1 && name[1] == 'O';
  const bool is_big_endian = name.starts_with('>');
  refuse_type(origin, fmt::format("'{}'{}", printable(name),
                                  is_object ? " (Python objects: a pickle, which could run code and is never read)"
                                  : is_big_endian ? " (big-endian)"
                                                  : ""));
}

/// Elements times element size; nothing if that overflows.
std::optional<std::uint64_t> size_in_bytes(ElementType type, const std::vector<std::int64_t>& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::uint64_t size = element_size(type);
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size)) return std::nullopt;
  }
  return size;
}

/// The elements of `stored`, whose first index runs fastest, ordered so that the last one does.
std::vector<std::byte> in_c_order(std::span<const std::byte> stored, const std::vector<std::int64_t>& shape,
                                  std::size_t element) {
  std::vector<std::size_t> strides;  // bytes of `stored` from an index to the next, by dimension
  std::size_t stride = element;
  for (const std::int64_t extent : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(extent);
  }
  std::vector<std::byte> ordered(stored.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t source = 0;
  for (std::size_t target = 0; target < ordered.size(); target += element) {
    std::memcpy(&ordered[target], &stored[source], element);
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d]) break;
      source -= strides[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return ordered;
}

/// One file being read, from the disk or from memory.
class Decoder {
 public:
  using Read = std::function<std::size_t(std::span<std::byte>)>;

  Decoder(const std::string& origin, std::uint64_t size, Read read)
      : origin_(origin), remaining_(size), read_(std::move(read)) {}

  NpyArray decode() {
    const std::string text = read_header();
    Header header = HeaderParser(text, origin_).parse();
    const ElementType type = find_type(header.type_name, origin_);
    const std::optional<std::uint64_t> expected = size_in_bytes(type, header.shape);
    if (expected != remaining_) {
      refuse(origin_, "expected {} bytes of elements (type {}, shape ({})), found {}",
             expected ? fmt::to_string(*expected) : "more than 2^64", header.type_name, fmt::join(header.shape, ", "),
             remaining_);
    }
    std::vector<std::byte> bytes(*expected);
    read_all(bytes, "its elements");
    if (header.type_name.ends_with("b1")) check_booleans(bytes);
    if (header.fortran_order && header.shape.size() > 1) {
      bytes = in_c_order(bytes, header.shape, element_size(type));
    }
    return {.type = type, .shape = std::move(header.shape), .bytes = std::move(bytes), .origin = origin_};
  }

 private:
  std::string read_header() {
    const std::string start = read_text(magic.size(), "its first bytes");
    if (start != magic) {
      refuse(origin_, "expected it to begin with the byte 93 and 'NUMPY', found '{}'", printable(start));
    }
    const std::string version = read_text(2, "its version");
    const int major = static_cast<std::uint8_t>(version[0]), minor = static_cast<std::uint8_t>(version[1]);
    if (major < 1 || major > 3 || minor != 0) {
      refuse(origin_, "its version is {}.{}; known are 1.0, 2.0 and 3.0", major, minor);
    }
    const std::string length_bytes = read_text(major == 1 ? 2 : 4, "the length of its header");
    std::uint32_t length = 0;
    std::memcpy(&length, length_bytes.data(), length_bytes.size());
    if (length > longest_header) {
      refuse(origin_, "its header claims {} bytes, more than the {} that an array of numbers may need", length,
             longest_header);
    }
    return read_text(length, "its header");
  }

  std::string read_text(std::size_t length, std::string_view what) {
    if (length > remaining_) fail_truncated(length, what, remaining_);
    std::string text(length, '\0');
    read_all(std::as_writable_bytes(std::span(text)), what);
    return text;
  }

  void read_all(std::span<std::byte> bytes, std::string_view what) {
    const std::size_t count = read_(bytes);
    if (count != bytes.size()) fail_truncated(bytes.size(), what, count);
    remaining_ -= count;
  }

  [[noreturn]] void fail_truncated(std::uint64_t expected, std::string_view what, std::uint64_t found) const {
    refuse(origin_, "it is truncated: expected {} bytes for {}, found {}", expected, what, found);
  }

  void check_booleans(std::span<const std::byte> bytes) const {
    const auto wrong = std::ranges::find_if(bytes, [](std::byte b) { return std::to_integer<int>(b) > 1; });
    if (wrong == bytes.end()) return;
    refuse(origin_, "element {} of its booleans is {}, expected 0 or 1", wrong - bytes.begin(),
           std::to_integer<int>(*wrong));
  }

  const std::string& origin_;
  std::uint64_t remaining_;
  Read read_;
};

template <class T>
std::vector<float> rounded(std::span<const T> values, const std::string& origin) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const T value : values) {
    if constexpr (std::is_same_v<T, double>) {
      // Every double below this one rounds to a float; it lies halfway between the largest float and the next power
      // of 2.
      constexpr double beyond = 0x1.ffffffp127;
      if (std::isfinite(value) && std::abs(value) >= beyond) {
        fail(ErrorKind::data, "'{}': element {} is {}, beyond the range of a float", origin, floats.size(), value);
      }
    }
    floats.push_back(static_cast<float>(value));
  }
  return floats;
}

}  // namespace

void NpyArray::check_type(ElementType expected) const {
  if (type == expected) return;
  fail(ErrorKind::data, "'{}': expected elements of type {}, found {}", origin, numpy_name(expected), numpy_name(type));
}

std::vector<float> NpyArray::to_floats() const {
  switch (type) {
    case ElementType::float32: return rounded(as<float>(), origin);
    case ElementType::float64: return rounded(as<double>(), origin);
    case ElementType::int32: return rounded(as<std::int32_t>(), origin);
    case ElementType::int64: return rounded(as<std::int64_t>(), origin);
    case ElementType::uint64: return rounded(as<std::uint64_t>(), origin);
    case ElementType::uint8: return rounded(as<std::uint8_t>(), origin);
  }
  return {};
}

NpyArray read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  if (file.size() > largest_file) {
    fail(ErrorKind::data, "'{}' is larger than the {} bytes allowed for it", path.string(), largest_file);
  }
  return Decoder(path.string(), file.size(), [&](std::span<std::byte> bytes) { return file.read(bytes); }).decode();
}

NpyArray decode_npy(std::string_view bytes, const std::string& origin) {
  std::span<const std::byte> rest = std::as_bytes(std::span(bytes));
  const auto read = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min(buffer.size(), rest.size());
    std::ranges::copy(rest.first(count), buffer.begin());
    rest = rest.subspan(count);
    return count;
  };
  return Decoder(origin, bytes.size(), read).decode();
}

}  // namespace stein
