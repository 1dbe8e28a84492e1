// The IDX format: arrays of bytes, and files that are none.
#include <stein/core/data/manifest.h>
#include <stein/core/idx.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein {
namespace {

using namespace std::string_literals;

TEST_CASE("an array of bytes is read with its shape, plain and compressed", "[core][idx]") {
  const std::string bytes = "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03"s + "abcdef";
  const test::TemporaryDirectory folder;
  test::write(folder / "a-idx2", bytes);
  test::write_gzip(folder / "b-idx2.gz", bytes);
  for (const auto& array : {read_idx(folder / "a-idx2"), read_idx(folder / "b-idx2.gz")}) {
    CHECK(array.shape == std::vector<std::int64_t>{2, 3});
    CHECK(std::string(array.bytes.begin(), array.bytes.end()) == "abcdef");
  }
}

TEST_CASE("a file that is no IDX array says what is wrong with it", "[core][idx]") {
  const test::TemporaryDirectory folder;
  const auto read = [&](const std::string& bytes) { return read_idx(test::write(folder / "f", bytes)); };
  CHECK_ERROR(read("\x00\x00"s), data, "f' is no IDX file", "found 2 bytes");
  CHECK_ERROR(read("\x89PNG"s), data, "magic number from 0x00000801", "found 0x89504e47");
  CHECK_ERROR(read("\x00\x00\x0d\x01\x00\x00\x00\x00"s), data, "found 0x00000d01");  // floats
  CHECK_ERROR(read("\x00\x00\x08\x02\x00\x00\x00\x02"s), data, "header of 12 bytes, found 8");
  CHECK_ERROR(read("\x00\x00\x08\x01\x00\x00\x00\x05"s + "abcd"), data, "[5], which is 5 bytes, and 4 follow");
  CHECK_ERROR(read("\x00\x00\x08\x01\x00\x00\x00\x03"s + "abcd"), data, "3 bytes, and more follow");
  const std::string whole =
      "\x00\x00\x08\x01\x00\x01\x00\x00"s + std::string(65'536, 'x');  // as much as is read at once
  CHECK(read(whole).bytes.size() == 65'536);
  CHECK_ERROR(read(whole + "y"), data, "65536 bytes, and more follow");
  CHECK_ERROR(read("\x00\x00\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s), data,
              "too many bytes");
  // Sizes that nobody can multiply, beside one of 0.
  CHECK_ERROR(read("\x00\x00\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"s), data, "too many bytes");
  CHECK_ERROR(read_idx("/no/such/file"), data, "no/such/file");
}

/// The most memory that this process has had [bytes].
double peak_memory() {
  rusage usage{};
  REQUIRE(::getrusage(RUSAGE_SELF, &usage) == 0);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

TEST_CASE("a file that says or holds too much takes little memory", "[core][idx]") {
  const test::TemporaryDirectory folder;
  const double before = peak_memory();
  const std::string terabyte = "\x00\x00\x08\x03\x00\x01\x00\x00\x00\x00\x10\x00\x00\x00\x10\x00"s;
  CHECK_ERROR(read_idx(test::write(folder / "f", terabyte + "ab")), data, "and 2 follow");
  const gzFile file = gzopen((folder / "g.gz").c_str(), "wb");
  const std::string image = "\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x08"s, zeros(1 << 20, '\0');
  REQUIRE(gzwrite(file, image.data(), 16) == 16);
  for (int i = 0; i < 200; ++i) REQUIRE(gzwrite(file, zeros.data(), 1 << 20) == 1 << 20);
  REQUIRE(gzclose(file) == Z_OK);
  CHECK_ERROR(read_idx(folder / "g.gz"), data, "64 bytes, and more follow");
  CHECK(peak_memory() < before + 20e6);
}

TEST_CASE("MNIST has the published images", "[core][idx][data-set]") {
  const auto folder = find_data_set("mnist");
  if (!folder) test::skip("no data set mnist");
  const IdxArray images = read_idx(data_file(*folder, "train-images-idx3-ubyte")),
                 labels = read_idx(data_file(*folder, "train-labels-idx1-ubyte"));
  CHECK(images.shape == std::vector<std::int64_t>{60'000, 28, 28});
  CHECK(labels.shape == std::vector<std::int64_t>{60'000});
  CHECK(std::vector<int>(labels.bytes.begin(), labels.bytes.begin() + 5) == std::vector<int>{5, 0, 4, 1, 9});
}

}  // namespace
}  // namespace stein
