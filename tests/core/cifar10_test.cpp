// CIFAR-10's binary version: records, and files that have none.
#include <stein/core/cifar10.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein {
namespace {

/// A record whose red, green and blue are three numbers, but for its first pixel, which is 7 in all of them.
std::string record(char label, char red, char green, char blue) {
  std::string bytes(1, label);
  for (const char level : {red, green, blue}) bytes += '\x07' + std::string(1023, level);
  return bytes;
}

TEST_CASE("a batch of CIFAR-10 is read with its labels and planes", "[core][cifar10]") {
  const std::string bytes = record('\x09', 'r', 'g', 'b') + record('\0', 'R', 'G', 'B');
  const test::TemporaryDirectory folder;
  test::write(folder / "data_batch_1.bin", bytes);
  test::write_gzip(folder / "data_batch_1.bin.gz", bytes);
  for (const Cifar10Batch& batch :
       {decode_cifar10_batch(bytes, "text"), read_cifar10_batch(folder / "data_batch_1.bin"),
        read_cifar10_batch(folder / "data_batch_1.bin.gz")}) {
    CHECK(batch.labels == std::vector<std::uint8_t>{9, 0});
    REQUIRE(batch.pixels.size() == 2 * 3072);
    for (const std::size_t start : {0, 1024, 2048, 3072, 4096, 5120}) CHECK(batch.pixels[start] == 7);
    CHECK(batch.pixels[1] == 'r');
    CHECK(batch.pixels[1025] == 'g');
    CHECK(batch.pixels[2049] == 'b');
    CHECK(batch.pixels[3073] == 'R');
    CHECK(batch.pixels[6143] == 'B');
  }
}

TEST_CASE("a file that is no batch of CIFAR-10 says what is wrong with it", "[core][cifar10]") {
  CHECK_ERROR(decode_cifar10_batch("", "f"), data, "'f' is no batch of CIFAR-10", "3073 bytes, found 0");
  const std::string good = record('\x01', 'a', 'b', 'c');
  CHECK_ERROR(decode_cifar10_batch(good.substr(1), "f"), data, "found 3072 bytes");
  CHECK_ERROR(decode_cifar10_batch(good + record('\x0a', 'a', 'b', 'c'), "f"), data,
              "'f', record 2: expected a label from 0 to 9, found 10");
  CHECK_ERROR(read_cifar10_batch("/no/such/data_batch_1.bin"), data, "no/such/data_batch_1.bin");
}

}  // namespace
}  // namespace stein
