#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/error_matcher.h"
#include "core/ordinary_user.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

int files_in(const std::filesystem::path& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

TEST_CASE("an atomic file appears at commit, whole, and leaves nothing behind without it", "[core][atomic_file]") {
  const test::TemporaryDirectory folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("one ");
    file.write("two");
    CHECK_FALSE(std::filesystem::exists(folder / "a.txt"));
    file.commit();
  }
  CHECK(read_file(folder / "a.txt") == "one two");
  {
    AtomicFile file(folder / "a.txt");
    file.write("abandoned");
  }
  CHECK(read_file(folder / "a.txt") == "one two");
  write_file_atomically(folder / "a.txt", "three");
  CHECK(read_file(folder / "a.txt") == "three");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("an unwritable place is named with the reason", "[core][atomic_file]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(write_file_atomically(folder / "no/such/a.txt", ""), io, "no/such/a.txt", "No such file or directory");
  write_file_atomically(folder / "file", "");
  CHECK_ERROR(write_file_atomically(folder / "file/a.txt", ""), io, "Not a directory");
  CHECK_ERROR(write_file_atomically("/proc/a.txt", ""), io, "/proc/a.txt");
}

TEST_CASE("behind a link the file that it leads to is written, and the link stays", "[core][atomic_file]") {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "other");
  write_file_atomically(folder / "other/a.txt", "old");
  std::filesystem::create_symlink("other/a.txt", folder / "link.txt");
  std::filesystem::create_symlink("other/b.txt", folder / "ahead.txt");  // to what is not there yet
  write_file_atomically(folder / "link.txt", "new");
  write_file_atomically(folder / "ahead.txt", "made");
  CHECK(std::filesystem::is_symlink(folder / "link.txt"));
  CHECK(std::filesystem::is_symlink(folder / "ahead.txt"));
  CHECK(read_file(folder / "other/a.txt") == "new");
  CHECK(read_file(folder / "other/b.txt") == "made");
}

TEST_CASE("no file takes the place of a device, a pipe or a folder", "[core][atomic_file]") {
  const test::TemporaryDirectory folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder / "inside");
  CHECK_ERROR(write_file_atomically(folder / "pipe", "x"), io, "pipe': it is a device or a pipe, expected a file");
  CHECK_ERROR(write_file_atomically(folder / "inside", "x"), io, "inside': it is a folder, expected a file");
  CHECK_ERROR(write_file_atomically("/dev/null", "x"), io, "/dev/null': it is a device or a pipe");
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("a folder without permission to write is named with the reason", "[core][atomic_file][unprivileged]") {
  const test::TemporaryDirectory folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
  const test::OrdinaryUser user;
  CHECK_ERROR(write_file_atomically(folder / "a.txt", ""), io, "a.txt", "Permission denied");
}

TEST_CASE("a write that the disk cuts short is an error and leaves the old file", "[core][atomic_file]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "a.bin", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_ERROR(write_file_atomically(folder / "a.bin", std::string(10'000, 'x')), io, "a.bin", "File too large");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(read_file(folder / "a.bin") == "old");
  CHECK(files_in(folder.path()) == 1);
}

}  // namespace
}  // namespace stein
