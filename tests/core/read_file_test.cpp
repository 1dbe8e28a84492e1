#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <zlib.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(text.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  return result;
}

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_CASE("a file is read whole, plain or through gzip, also with several members", "[core][read_file]") {
  const test::TemporaryDirectory folder;
  const std::string text = numbers(500'000);  // 3.4 MB: several pieces
  write_file_atomically(folder / "plain.txt", text);
  write_file_atomically(folder / "one.txt.gz", gzip(text));
  write_file_atomically(folder / "two.txt.gz", gzip("first ") + gzip("second"));
  write_file_atomically(folder / "empty.gz", gzip(""));
  CHECK(read_file(folder / "plain.txt") == text);
  CHECK(read_text(folder / "plain.txt") == text);
  CHECK(read_text(folder / "one.txt.gz") == text);
  CHECK(read_text(folder / "two.txt.gz") == "first second");
  CHECK(read_text(folder / "empty.gz").empty());
  CHECK(read_file(folder / "one.txt.gz") == gzip(text));
}

TEST_CASE("a file without a size, as in /proc, is read to its end", "[core][read_file]") {
  CHECK_THAT(read_file("/proc/self/status"), Catch::Contains("Pid:"));
}

TEST_CASE("missing, oversized and damaged files are refused in words", "[core][read_file]") {
  const test::TemporaryDirectory folder;
  const std::string packed = gzip(numbers(100'000));
  write_file_atomically(folder / "cut.gz", packed.substr(0, packed.size() / 2));
  write_file_atomically(folder / "cut-trailer.gz", packed.substr(0, packed.size() - 4));
  std::string altered = packed;
  altered[packed.size() - 6] ^= 1;  // inside the stored CRC-32
  write_file_atomically(folder / "altered.gz", altered);
  write_file_atomically(folder / "plain.gz", "not compressed at all");
  write_file_atomically(folder / "bomb.gz", gzip(std::string(50 << 20, 'a')));

  CHECK_ERROR(read_file(folder / "none"), data, "none", "does not exist");
  CHECK_ERROR(read_text(folder / "none.gz"), data, "none.gz", "does not exist");
  CHECK_ERROR(read_file(folder.path()), data, "is a folder");
  CHECK_ERROR(read_text(folder / "cut.gz"), data, "cut.gz", "truncated");
  CHECK_ERROR(read_text(folder / "cut-trailer.gz"), data, "truncated");
  CHECK_ERROR(read_text(folder / "altered.gz"), data, "altered.gz", "damaged");
  CHECK_ERROR(read_text(folder / "plain.gz"), data, "not a gzip file");
  CHECK_ERROR(read_text(folder / "bomb.gz", 1 << 20), data, "bomb.gz", "larger than the 1048576 bytes");
  CHECK_ERROR(read_file(folder / "cut.gz", 10), data, "larger than the 10 bytes");
}

}  // namespace
}  // namespace stein
