#include <stein/core/atomic_file.h>
#include <stein/envs/own_table.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein::envs {
namespace {

/// Seven rows, of which the last lacks a cell; classes are numbers.
std::filesystem::path write_zoo(const test::TemporaryDirectory& folder) {
  write_file_atomically(
      folder / "zoo.csv",
      "name;legs;fur;class\na;2;no;10\nb;4;yes;9\nc;4;yes;9\nd;2;no;10\ne;4;no;11\nf;4;yes;9\ng;;no;11\n");
  return folder / "zoo.csv";
}

TEST_CASE("rows of a table of one's own are contexts, and its classes arms", "[envs][own_table]") {
  const test::TemporaryDirectory folder;
  OwnTable bandit({.file = write_zoo(folder), .target = "class", .ignore = {"name"}}, {});
  const BanditSpec& spec = bandit.spec();
  CHECK(spec.name == "table");
  CHECK(spec.data == "real");
  CHECK(spec.arm_names == std::vector<std::string>{"9", "10", "11"});  // by value
  CHECK(spec.context_size == 3);                                       // legs, and two categories
  CHECK_THAT(spec.source, Catch::Contains("zoo.csv, sha256 "));
  std::vector<int> seen(7);
  for (std::int64_t step = 0; step < 200; ++step) {
    bandit.observe(1, step);
    ++seen[static_cast<std::size_t>(bandit.row())];
    const std::vector<std::int64_t> arms{1, 0, 0, 1, 2, 0};
    for (std::int64_t arm = 0; arm < 3; ++arm)
      REQUIRE(bandit.reward(arm) == (arm == arms[static_cast<std::size_t>(bandit.row())] ? 1 : 0));
  }
  CHECK(seen[6] == 0);  // not complete
  CHECK(spec.notice == "6 of 7 rows of 'zoo.csv' play: the others have a missing cell");
  CHECK(std::ranges::count(seen, 0) == 1);
  const OwnTable codes({.file = folder / "zoo.csv", .target = "class", .ignore = {"name"}, .categorical = {"legs"}},
                       {});
  CHECK(codes.spec().context_size == 4);
}

TEST_CASE("what a table of one's own lacks is said with what it has", "[envs][own_table]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path zoo = write_zoo(folder);
  const auto made = [](const OwnTable::Options& options) { return OwnTable(options, {}); };
  CHECK_ERROR(made({}), usage, "option 'file'");
  CHECK_ERROR(made({.file = zoo}), usage, "option 'target'", "name, legs, fur, class");
  CHECK_ERROR(made({.file = zoo, .target = "clas"}), usage, "no column 'clas'", "'class'");
  CHECK_ERROR(made({.file = zoo, .target = "fur", .ignore = {"fur"}}), usage, "cannot be the target");
  CHECK_ERROR(made({.file = zoo, .target = "fur", .ignore = {"nam"}}), usage, "'nam'");
  CHECK_ERROR(made({.file = folder / "none.csv", .target = "fur"}), data, "none.csv");
  write_file_atomically(folder / "prices.csv", "a,price\n1,.5\n2,1\n3,.5\n");
  CHECK_ERROR(made({.file = folder / "prices.csv", .target = "price"}), data, "'price'", "not whole", ".5");
  CHECK(made({.file = folder / "prices.csv", .target = "price", .categorical = {"price"}}).spec().arms == 2);
  CHECK(made({.file = folder / "prices.csv", .target = "price", .categorical = {"price"}}).spec().notice.empty());
  write_file_atomically(folder / "holes.csv", "a,b\n1,\n,2\n");
  CHECK_ERROR(made({.file = folder / "holes.csv", .target = "b"}), data, "every row");
}

TEST_CASE("a relative path to a table is kept as an absolute one", "[envs][own_table]") {
  OwnTable::Options options{.file = "zoo.csv"};
  options.make_paths_absolute();
  CHECK(options.file == std::filesystem::current_path() / "zoo.csv");
  OwnTable::Options none;
  none.make_paths_absolute();
  CHECK(none.file.empty());
}

}  // namespace
}  // namespace stein::envs
