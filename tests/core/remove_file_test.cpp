#include <stein/core/atomic_file.h>
#include <stein/core/remove_file.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

TEST_CASE("a file is gone once it is removed, and one that is not there is no error", "[core][remove_file]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "old.json", "{}");
  remove_file(folder / "old.json");
  CHECK_FALSE(std::filesystem::exists(folder / "old.json"));
  remove_file(folder / "old.json");
}

TEST_CASE("what cannot be removed is named, with the reason", "[core][remove_file]") {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "full");
  write_file_atomically(folder / "full/inside.json", "{}");
  CHECK_ERROR(remove_file(folder / "full"), io, "cannot remove", "full", "not empty");
}

}  // namespace
}  // namespace stein
