#include <stein/core/error.h>
#include <stein/core/idx.h>
#include <stein/core/read_file.h>

#include <fmt/ranges.h>

#include <utility>

namespace stein {
namespace {

constexpr std::uint32_t unsigned_bytes = 0x08;  ///< type of the elements
constexpr std::size_t number_bytes = 4;

std::uint32_t big_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < number_bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[offset + i]);
  return number;
}

}  // namespace

IdxArray decode_idx(std::string_view bytes, const std::string& origin) {
  if (bytes.size() < number_bytes)
    fail(ErrorKind::data, "'{}' is no IDX file: expected a magic number of 4 bytes, found {} bytes", origin,
         bytes.size());
  const std::uint32_t magic = big_endian(bytes, 0), type = magic >> 8, dimensions = magic & 0xff;
  if (type != unsigned_bytes || dimensions < 1 || dimensions > 4)
    fail(ErrorKind::data,
         "'{}' is no IDX file of bytes: expected a magic number from 0x00000801 to 0x00000804, found {:#010x}", origin,
         magic);
  const std::size_t header = number_bytes * (1 + dimensions);
  if (bytes.size() < header)
    fail(ErrorKind::data, "'{}' is truncated: expected a header of {} bytes, found {}", origin, header, bytes.size());
  IdxArray array;
  const std::uint64_t found = bytes.size() - header;
  // Sizes beside a 0 have to be small enough too: whoever reads the array multiplies them.
  std::int64_t expected = 1;
  bool too_many = false, any_zero = false;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::int64_t extent = big_endian(bytes, number_bytes * (1 + i));
    array.shape.push_back(extent);
    any_zero = any_zero || extent == 0;
    too_many = too_many || (extent != 0 && __builtin_mul_overflow(expected, extent, &expected));
  }
  if (any_zero) expected = 0;
  if (too_many || std::cmp_not_equal(expected, found))
    fail(ErrorKind::data, "'{}': its header says [{}], which is {} bytes, and {} follow", origin,
         fmt::join(array.shape, ", "), too_many ? "too many" : fmt::format("{}", expected), found);
  array.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end());
  return array;
}

IdxArray read_idx(const std::filesystem::path& path) {
  return decode_idx(read_text(path), path.string());
}

}  // namespace stein
