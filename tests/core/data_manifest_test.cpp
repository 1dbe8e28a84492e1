#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>

#include <catch2/catch.hpp>

#include "core/environment_variable.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein {
namespace {

DataSet small_set() {
  return {.name = "small",
          .description = "",
          .licence = "",
          .citation = "",
          .files = {{.name = "a.txt", .url = "", .bytes = 3, .sha256 = sha256("abc")}}};
}

TEST_CASE("every data set of the manifest says where it is from and how to recognise it", "[core][data]") {
  for (const DataSet& set : data_sets()) {
    CAPTURE(set.name);
    CHECK_FALSE(set.description.empty());
    CHECK_FALSE(set.licence.empty());
    CHECK_FALSE(set.citation.empty());
    REQUIRE_FALSE(set.files.empty());
    for (const DataFile& file : set.files) {
      CHECK((file.sha256.size() == 64 || file.sha256.empty()));
      CHECK((file.bytes > 0 || file.sha256.empty()));
      CHECK((file.url.empty() || file.url.starts_with("https://")));
      CHECK((file.url.empty() || file.bytes > 0));  // a download ends where there are as many bytes
    }
  }
  CHECK_ERROR(data_set("mushrom"), usage, "no data set 'mushrom'", "'mushroom'");
}

TEST_CASE("data is looked for in the named folder only, or in STEIN_DATA and then in the user's cache",
          "[core][data]") {
  const test::EnvironmentVariable data("STEIN_DATA", "/from/environment");
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", "/cache");
  const test::EnvironmentVariable home("HOME", "/home/someone");
  using Folders = std::vector<std::filesystem::path>;
  CHECK(data_folders("/named") == Folders{"/named"});
  CHECK(data_folders() == Folders{"/from/environment", "/cache/stein"});
  CHECK(user_data_folder() == "/cache/stein");
  const test::EnvironmentVariable no_data("STEIN_DATA", "");
  const test::EnvironmentVariable no_cache("XDG_CACHE_HOME", "");
  CHECK(data_folders() == Folders{"/home/someone/.cache/stein"});
  const test::EnvironmentVariable no_home("HOME", "");
  CHECK(data_folders().empty());
  CHECK_ERROR(user_data_folder(), usage, "XDG_CACHE_HOME", "HOME", "--data");
}

TEST_CASE("the first folder that holds a data set is taken, with or without a subfolder of its name", "[core][data]") {
  const test::TemporaryDirectory named, environment, cache;
  const test::EnvironmentVariable data("STEIN_DATA", environment.path().string());
  const test::EnvironmentVariable home("XDG_CACHE_HOME", cache.path().string());
  const auto find = [](const std::filesystem::path& folder) {
    return find_data_set("mushroom", folder, Verify::presence);
  };
  CHECK_FALSE(find(named.path()).has_value());

  std::filesystem::create_directories(cache / "stein/mushroom");
  write_file_atomically(cache / "stein/mushroom/agaricus-lepiota.data", "x");
  CHECK_FALSE(find(named.path()).has_value());
  CHECK(find({}) == cache / "stein/mushroom");
  write_file_atomically(environment / "agaricus-lepiota.data", "x");
  CHECK_FALSE(find(named.path()).has_value());
  CHECK(find({}) == environment.path());
  std::filesystem::create_directories(named / "mushroom");
  write_file_atomically(named / "mushroom/agaricus-lepiota.data", "x");
  CHECK(find(named.path()) == named / "mushroom");
}

TEST_CASE("a damaged copy is refused although a later folder holds the right one, and both are named",
          "[core][data][data-set]") {
  const auto real = find_data_set("mushroom");
  if (!real) test::skip("no data set mushroom");
  const test::TemporaryDirectory environment, cache;
  const test::EnvironmentVariable data("STEIN_DATA", environment.path().string());
  const test::EnvironmentVariable home("XDG_CACHE_HOME", cache.path().string());
  write_file_atomically(environment / "agaricus-lepiota.data", "p,x,s\n");
  std::filesystem::create_directories(cache / "stein/mushroom");
  std::filesystem::copy_file(*real / "agaricus-lepiota.data", cache / "stein/mushroom/agaricus-lepiota.data");
  CHECK_ERROR(find_data_set("mushroom"), data, "found 6", "'" + environment.path().string() + "' takes precedence",
              "'" + (cache / "stein/mushroom").string() + "', which holds the right files");
}

TEST_CASE("a set that has to be there and is not is refused with where it was looked for and what to do",
          "[core][data]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(require_data_set("ptb", folder.path(), "a poem needs none"), data,
              "the data set ptb is in none of '" + folder.path().string() + "'", "`stein data fetch ptb` downloads it",
              "--data or $STEIN_DATA", "a poem needs none");
  CHECK_ERROR(require_data_set("shuttle", folder.path(), "two moons need none"), data, "it has no fixed address",
              "`stein data fetch shuttle` says what is to be put where", "two moons need none");
  CHECK_ERROR(require_data_set("pbt", folder.path(), ""), usage, "'ptb'");
}

TEST_CASE("an altered data file is refused with what was expected and what was found", "[core][data]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "agaricus-lepiota.data", "p,x,s\n");
  CHECK_ERROR(find_data_set("mushroom", folder.path()), data, "agaricus-lepiota.data", "expected 373704 bytes, found 6",
              "`stein data fetch mushroom --data '" + folder.path().string() + "'` downloads");
  write_file_atomically(folder / "agaricus-lepiota.data", std::string(373704, 'p'));
  CHECK_ERROR(find_data_set("mushroom", folder.path()), data, "expected SHA-256 e65d0820",
              sha256(std::string(373704, 'p')));
  CHECK_ERROR(find_data_set("mushroom", folder / "none"), data, "none", "does not exist");

  write_file_atomically(folder / "a.txt", "abc");
  CHECK_NOTHROW(check_data_set(small_set(), folder.path()));
  write_file_atomically(folder / "a.txt", "abd");
  CHECK_ERROR(check_data_set(small_set(), folder.path()), data, "a.txt", "data set small", sha256("abc"),
              sha256("abd"));
  std::filesystem::remove(folder / "a.txt");
  CHECK_ERROR(check_data_set(small_set(), folder.path()), data, "a.txt", "missing");
}

TEST_CASE("what is not recorded of a file is not asked of it", "[core][data]") {
  const test::TemporaryDirectory folder;
  DataSet set = small_set();
  set.files[0].sha256 = "";
  write_file_atomically(folder / "a.txt", "abd");
  CHECK_NOTHROW(check_data_set(set, folder.path()));
  test::write_gzip(folder / "a.txt.gz", "xyz");
  CHECK_NOTHROW(check_data_set(set, folder.path()));
  write_file_atomically(folder / "a.txt", "abcd");
  CHECK_ERROR(check_data_set(set, folder.path()), data, "expected 3 bytes, found 4");
  set.files[0].bytes = 0;
  CHECK_NOTHROW(check_data_set(set, folder.path()));
  std::filesystem::remove(folder / "a.txt");
  std::filesystem::remove(folder / "a.txt.gz");
  CHECK_ERROR(check_data_set(set, folder.path()), data, "a.txt", "missing");
}

TEST_CASE("a file of a data set may lie gzip-compressed, and is checked as it is without that", "[core][data]") {
  const test::TemporaryDirectory folder;
  test::write_gzip(folder / "a.txt.gz", "abc");
  CHECK(data_file(folder.path(), "a.txt") == folder / "a.txt.gz");
  CHECK_NOTHROW(check_data_set(small_set(), folder.path()));
  test::write_gzip(folder / "a.txt.gz", "abd");
  CHECK_ERROR(check_data_set(small_set(), folder.path()), data, "a.txt.gz", "expected SHA-256", sha256("abd"));
  test::write_gzip(folder / "a.txt.gz", "abcd");
  CHECK_ERROR(check_data_set(small_set(), folder.path()), data, "expected 3 bytes, found 4");
  write_file_atomically(folder / "a.txt", "abc");  // the plain one comes first
  CHECK(data_file(folder.path(), "a.txt") == folder / "a.txt");
  CHECK_NOTHROW(check_data_set(small_set(), folder.path()));
}

}  // namespace
}  // namespace stein
