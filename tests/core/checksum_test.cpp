#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

TEST_CASE("SHA-256 and CRC-32C give their published answers", "[core][checksum]") {
  // FIPS 180-2, appendix B.1 and B.2; the empty message.
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // RFC 3720, appendix B.4 (32 zero bytes, 32 bytes of ones), and the usual check value.
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62A8AB43u);
  CHECK(crc32c("123456789") == 0xE3069283u);
}

TEST_CASE("a file has the checksum of its content", "[core][checksum]") {
  const test::TemporaryDirectory folder;
  const std::string content(200'000, 'z');
  write_file_atomically(folder / "z", content);
  CHECK(sha256_file(folder / "z") == sha256(content));
  CHECK_ERROR(sha256_file(folder / "none"), data, "none", "does not exist");
}

}  // namespace
}  // namespace stein
