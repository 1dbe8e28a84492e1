#include <stein/core/append_file.h>
#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

TEST_CASE("an append file knows its length and continues where a truncated file ends", "[core][append_file]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path path = folder / "log.jsonl";
  std::uint64_t checkpoint = 0;
  {
    AppendFile file(path);
    CHECK(file.tell() == 0);
    file.append_line("one");
    checkpoint = file.tell();
    CHECK(checkpoint == 4);
    file.sync();
    CHECK(read_file(path) == "one\n");
    for (int i = 0; i < 100'000; ++i) file.append_line("beyond the checkpoint");
  }
  CHECK(std::filesystem::file_size(path) == 4 + 100'000 * 22);
  truncate_file(path, checkpoint);
  AppendFile file(path);
  CHECK(file.tell() == checkpoint);
  file.append_line("two");
  file.flush();
  CHECK(read_file(path) == "one\ntwo\n");
}

TEST_CASE("a file shorter than the checkpoint says is refused", "[core][append_file]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "short", "abc");
  CHECK_ERROR(truncate_file(folder / "short", 4), data, "short", "has 3 bytes", "taken at 4");
  CHECK_ERROR(truncate_file(folder / "none", 1), data, "none", "has 0 bytes");
  CHECK_NOTHROW(truncate_file(folder / "none", 0));
  CHECK_NOTHROW(truncate_file(folder / "short", 3));
  CHECK(read_file(folder / "short") == "abc");
}

TEST_CASE("an append file in no directory is an io error", "[core][append_file]") {
  CHECK_ERROR(AppendFile("/no/such/directory/log"), io, "/no/such/directory/log", "No such file");
}

TEST_CASE("an append file on a full disk is an io error", "[core][append_file]") {
  AppendFile file("/dev/full");
  file.append_line("x");
  CHECK_ERROR(file.flush(), io, "/dev/full", "No space left on device");
}

}  // namespace
}  // namespace stein
