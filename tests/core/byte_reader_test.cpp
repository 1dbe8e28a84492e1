#include <stein/core/byte_reader.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/written_file.h"
#include "error_matcher.h"
#include "temporary_directory.h"

namespace stein {
namespace {

/// All that is left, read in pieces of `piece` bytes.
std::string rest_of(ByteReader& reader, std::size_t piece) {
  std::string text;
  std::vector<char> buffer(piece);
  while (const std::size_t count = reader.read(buffer)) text.append(buffer.data(), count);
  return text;
}

/// Bytes of every value, line ends among them.
std::string all_bytes(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>((i * 7 + i / 256) % 256);
  return text;
}

TEST_CASE("the bytes of a file are the same plain and compressed, whatever the pieces", "[core][byte_reader]") {
  const test::TemporaryDirectory folder;
  const std::string text = all_bytes(200'000);
  const auto plain = test::write(folder / "plain", text), packed = test::write_gzip(folder / "packed", text);
  for (const std::size_t piece : {1'000UL, 65'536UL, 300'000UL}) {
    ByteReader from_plain(plain), from_packed(packed);
    CHECK(rest_of(from_plain, piece) == text);
    CHECK(rest_of(from_packed, piece) == text);
    CHECK_FALSE(from_plain.is_gzip());
    CHECK(from_packed.is_gzip());
    CHECK(from_plain.file_bytes_read() == 200'000);
    CHECK(from_packed.file_bytes_read() == from_packed.file_bytes());
    CHECK(from_packed.file_bytes() < 200'000);
  }
}

TEST_CASE("a reader goes on from any byte, forwards and backwards", "[core][byte_reader]") {
  const test::TemporaryDirectory folder;
  const std::string text = all_bytes(150'000);
  std::vector<char> scratch(1'000);
  for (const auto& path : {test::write(folder / "plain", text), test::write_gzip(folder / "packed", text)}) {
    CAPTURE(path.string());
    ByteReader reader(path);
    for (const std::size_t offset : {100'000UL, 3UL, 0UL, 149'999UL, 150'000UL}) {
      REQUIRE(reader.seek(offset, scratch));
      CHECK(rest_of(reader, 4'096) == text.substr(offset));
    }
    CHECK_FALSE(reader.seek(150'001, scratch));
  }
}

TEST_CASE("files that cannot be read are named", "[core][byte_reader]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(ByteReader(folder / "none"), data, "none' does not exist");
  CHECK_ERROR(ByteReader(test::write(folder / "text.gz", "text")), data, "text.gz' is not a gzip file");
  test::write_gzip(folder / "whole.gz", all_bytes(1'000));
  const std::string whole = [&] {
    ByteReader reader(folder / "whole.gz");
    return rest_of(reader, 100);
  }();
  CHECK(whole == all_bytes(1'000));
  std::filesystem::resize_file(folder / "whole.gz", std::filesystem::file_size(folder / "whole.gz") - 5);
  ByteReader cut(folder / "whole.gz");
  CHECK_ERROR(rest_of(cut, 100), data, "whole.gz' is truncated");
}

}  // namespace
}  // namespace stein
