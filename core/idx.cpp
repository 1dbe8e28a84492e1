#include <stein/core/byte_reader.h>
#include <stein/core/error.h>
#include <stein/core/idx.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

namespace stein {
namespace {

constexpr std::uint32_t unsigned_bytes = 0x08;  ///< type of the elements
constexpr std::size_t idx_word_bytes = 4, most_idx_dimensions = 4;

std::uint32_t big_endian(std::span<const char> bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes.first(idx_word_bytes)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

/// As many bytes as there are, until the buffer is full.
std::size_t fill(ByteReader& reader, std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const std::size_t count = reader.read(buffer.subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  ByteReader reader(path);
  std::array<char, idx_word_bytes*(1 + most_idx_dimensions)> bytes{};
  const std::size_t first = fill(reader, std::span(bytes).first(idx_word_bytes));
  if (first < idx_word_bytes)
    fail(ErrorKind::data, "'{}' is no IDX file: expected a magic number of 4 bytes, found {} bytes", path.string(),
         first);
  const std::uint32_t magic = big_endian(bytes), type = magic >> 8, dimensions = magic & 0xff;
  if (type != unsigned_bytes || dimensions < 1 || dimensions > most_idx_dimensions)
    fail(ErrorKind::data,
         "'{}' is no IDX file of bytes: expected a magic number from 0x00000801 to 0x00000804, found {:#010x}",
         path.string(), magic);
  const std::size_t header = idx_word_bytes * (1 + dimensions);
  const std::size_t there = first + fill(reader, std::span(bytes).subspan(idx_word_bytes, header - idx_word_bytes));
  if (there < header)
    fail(ErrorKind::data, "'{}' is truncated: expected a header of {} bytes, found {}", path.string(), header, there);

  IdxArray array;
  // Sizes beside a 0 have to be small enough too: whoever reads the array multiplies them.
  std::int64_t expected = 1;
  bool too_many = false, any_zero = false;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::int64_t extent = big_endian(std::span<const char>(bytes).subspan(idx_word_bytes * (1 + i)));
    array.shape.push_back(extent);
    any_zero = any_zero || extent == 0;
    too_many = too_many || (extent != 0 && __builtin_mul_overflow(expected, extent, &expected));
  }
  if (too_many)
    fail(ErrorKind::data, "'{}': its header says [{}], which is too many bytes", path.string(),
         fmt::join(array.shape, ", "));
  if (any_zero) expected = 0;

  // Memory grows with what arrives, and no more is read than the header says and one byte.
  std::array<char, 65536> piece{};
  for (std::size_t count = 1; count > 0 && std::ssize(array.bytes) <= expected;) {
    count = reader.read(piece);
    array.bytes.insert(array.bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (std::ssize(array.bytes) != expected)
    fail(ErrorKind::data, "'{}': its header says [{}], which is {} bytes, and {} follow", path.string(),
         fmt::join(array.shape, ", "), expected,
         std::ssize(array.bytes) > expected ? "more" : fmt::format("{}", array.bytes.size()));
  array.bytes.shrink_to_fit();
  return array;
}

}  // namespace stein
