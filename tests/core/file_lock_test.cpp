#include <stein/core/file_lock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

/// Whether another process gets the lock on `path`.
bool another_process_can_lock(const std::filesystem::path& path) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(FileLock::take(path).has_value() ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 1;
}

TEST_CASE("a file lock keeps other processes out as long as it lives, and ends with its process", "[core][file_lock]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path path = folder / "lock";
  CHECK(another_process_can_lock(path));  // that process is over, and its lock with it
  {
    auto lock = FileLock::take(path);
    REQUIRE(lock.has_value());
    const FileLock moved = std::move(*lock);
    lock.reset();
    CHECK_FALSE(another_process_can_lock(path));
    CHECK_FALSE(FileLock::take(path).has_value());
  }
  CHECK(another_process_can_lock(path));
  CHECK_ERROR(FileLock::take(folder / "none/lock"), io, "none/lock");
}

}  // namespace
}  // namespace stein
