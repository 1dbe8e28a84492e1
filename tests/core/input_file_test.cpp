#include <stein/core/input_file.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <thread>

#include "error_matcher.h"
#include "temporary_directory.h"

namespace stein {
namespace {

std::string read_some(InputFile& file, std::size_t most) {
  std::string text(most, '?');
  text.resize(file.read(std::as_writable_bytes(std::span(text))));
  return text;
}

TEST_CASE("a file is read in pieces, from the start or from where seek moved to", "[core][input_file]") {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "letters") << "abcdefg";
  InputFile file(folder / "letters");
  CHECK(file.path() == folder / "letters");
  CHECK(file.size() == 7);
  CHECK(read_some(file, 0).empty());
  CHECK(read_some(file, 3) == "abc");
  CHECK(file.offset() == 3);
  CHECK(read_some(file, 10) == "defg");
  CHECK(file.offset() == 7);
  CHECK(read_some(file, 10).empty());
  file.seek(5);
  CHECK(file.offset() == 5);
  CHECK(read_some(file, 1) == "f");
  file.seek(100);
  CHECK(read_some(file, 1).empty());
  CHECK(file.offset() == 100);
}

TEST_CASE("a read from a pipe waits until the buffer is full", "[core][input_file]") {
  const test::TemporaryDirectory folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] {
    std::ofstream pipe(folder / "pipe");
    for (const char* piece : {"a", "bc", "d"}) pipe << piece << std::flush;
  });
  InputFile file(folder / "pipe");
  CHECK(file.size() == 0);
  CHECK(read_some(file, 3) == "abc");
  CHECK(read_some(file, 3) == "d");
  CHECK_ERROR(file.seek(0), io, "pipe", "seek");
  writer.join();
}

TEST_CASE("a file that cannot be read is refused when it is opened", "[core][input_file]") {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "file") << "a";
  CHECK_ERROR(InputFile(folder / "none"), data, "none", "does not exist");
  CHECK_ERROR(InputFile(folder / "file" / "below"), data, "below", "does not exist");
  CHECK_ERROR(InputFile(folder.path()), data, folder.path().string(), "is a folder");
}

}  // namespace
}  // namespace stein
