// Tables that are arrays of strangers.
#include <stein/core/data/array_table.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"
#include "core/npy_file.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Three rows of two features, and a target.
struct Files {
  std::filesystem::path features(const std::vector<double>& numbers = {1, 2, 3, 4, 5, 6},
                                 const std::string& shape = "(3, 2)") const {
    return test::write_npy(folder / "features.npy", "<f8", shape, numbers);
  }
  template <class T>
  std::string target(const std::string& type, const std::vector<T>& numbers, const std::string& shape = "(3,)") const {
    return test::write_npy(folder / "target.npy", type, shape, numbers).string();
  }

  test::TemporaryDirectory folder;
};

TEST_CASE("features and their target are read from two files", "[core][array-table]") {
  const Files files;
  const double third = 1.0 / 3;  // no float
  const Table table =
      read_array_table(files.features({1, 2, 3, nan, 5, third}), files.target<double>("<f8", {7, third, nan}),
                       /*categories=*/false);
  REQUIRE(table.columns.size() == 3);
  CHECK(table.rows() == 3);
  CHECK(table.columns[0].name == "x0");
  CHECK(table.columns[0].numbers == std::vector<double>{1, 3, 5});
  CHECK(table.columns[1].name == "x1");
  CHECK(table.columns[1].missing(1));
  CHECK(table.columns[1].numbers[2] == third);
  CHECK(table.columns[2].name == "target");
  CHECK(table.columns[2].numbers[1] == third);
  CHECK(table.columns[2].missing(2));
  CHECK(table.checksums.size() == 2);
}

TEST_CASE("classes are the whole numbers that occur, by value", "[core][array-table]") {
  const Files files;
  const std::filesystem::path features = files.features();
  const auto levels = [&](const std::string& target) {
    const Table table = read_array_table(features, target, /*categories=*/true);
    CHECK(table.columns.back().categories == std::vector<std::string>{"-1", "10"});
    return table.columns.back().levels;
  };
  CHECK(levels(files.target<std::int64_t>("<i8", {10, -1, 10})) == std::vector<std::int32_t>{1, 0, 1});
  CHECK(levels(files.target<float>("<f4", {-1, 10, NAN}, "(3, 1)")) == std::vector<std::int32_t>{0, 1, -1});
}

TEST_CASE("a safetensors file has features and target under their names", "[core][array-table]") {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "set.safetensors";
  Snapshot arrays;
  const std::vector<float> features{1, 2, 3, 4};
  arrays.put("features", std::span(features), {2, 2});
  arrays.put("age", std::vector<std::int64_t>{30, 40});
  write_safetensors(file, arrays);
  const Table table = read_array_table(file, "age", /*categories=*/false);
  CHECK(table.columns[1].numbers == std::vector<double>{2, 4});
  CHECK(table.columns[2].numbers == std::vector<double>{30, 40});
  CHECK(table.checksums.size() == 1);
  CHECK_ERROR(read_array_table(file, "sex", false), data, "set.safetensors", "expected an array 'sex'",
              "'age', 'features'");
}

TEST_CASE("arrays that are no table say why", "[core][array-table]") {
  const Files files;
  const std::string three = files.target<std::int64_t>("<i8", {0, 1, 1});
  CHECK_ERROR(read_array_table(files.features({1, 2, 3}, "(3,)"), three, true), data, "features.npy", "[rows, columns]",
              "the shape [3]");
  CHECK_ERROR(read_array_table(files.features({}, "(0, 2)"), three, true), data, "the shape [0, 2]");
  CHECK_ERROR(read_array_table(files.features({1, 2}, "(1, 2)"), three, true), data, "target.npy",
              "a target for each of 1 rows, found the shape [3]");
  CHECK_ERROR(read_array_table(files.features({1, 2, 3, infinity, 5, 6}), three, true), data, "features.npy', row 2",
              "infinite");
  CHECK_ERROR(read_array_table(files.features(), files.target<double>("<f8", {0, -infinity, 1}), false), data,
              "target.npy', row 2", "infinite");
  CHECK_ERROR(read_array_table(files.features(), files.target<double>("<f8", {0, 1, 0.5}), true), data,
              "target.npy', row 3", "whole number, found 0.5");
  CHECK_ERROR(read_array_table(files.features(), files.target<double>("<f8", {0, 1, 0, 1, 0, 1}, "(3, 2)"), true), data,
              "found the shape [3, 2]");
  CHECK_ERROR(read_array_table(files.folder / "table.csv", "y", true), usage, ".npy or .safetensors");
  CHECK_ERROR(read_array_table(files.features(), (files.folder / "none.npy").string(), true), data, "none.npy");
}

}  // namespace
}  // namespace stein
