// Tables with a target: published ones, made-up ones, one's own, and how rows are parted.
#include <stein/core/data/manifest.h>
#include <stein/supervised/tables/table_encoding.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/supervised/tables/table_split.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "core/error_matcher.h"
#include "core/npy_file.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::supervised {
namespace {

using Rows = std::vector<std::int64_t>;

struct Own {
  TableSet read(const std::string& text, TargetKind kind = TargetKind::number) {
    test::write(folder / "table.csv", text);
    options.data = (folder / "table.csv").string();
    return read_table_set(options, kind);
  }
  /// The same with a file for the test.
  TableSet read(const std::string& text, const std::string& test_text, TargetKind kind = TargetKind::number) {
    test::write(folder / "test.csv", test_text);
    options.test_data = folder / "test.csv";
    return read(text, kind);
  }

  test::TemporaryDirectory folder;
  TableOptions options{.target = "y"};
};

TEST_CASE("the published tables have the published rows, columns and splits", "[supervised][tables][data-set]") {
  if (!find_data_set("uci-regression")) test::skip("no data set uci-regression");
  struct Published {
    const char* name;
    std::int64_t rows;
    std::size_t inputs, splits;
    std::int64_t test;
  };
  for (const Published& set : {Published{"boston", 506, 13, 20, 51}, Published{"concrete", 1030, 8, 20, 103},
                               Published{"energy", 768, 8, 20, 77}, Published{"kin8nm", 8192, 8, 20, 819},
                               Published{"naval", 11934, 16, 20, 1193}, Published{"power", 9568, 4, 20, 957},
                               Published{"protein", 45730, 9, 5, 4573}, Published{"wine-red", 1599, 11, 20, 160},
                               Published{"yacht", 308, 6, 20, 31}}) {
    INFO(set.name);
    const TableOptions options{.data = set.name, .validation_share = 0};
    const TableSet read = read_table_set(options, TargetKind::number);
    CHECK(read.table.rows() == set.rows);
    CHECK(read.inputs.size() == set.inputs);
    CHECK(read.splits.size() == set.splits);
    for (std::uint64_t seed = 0; seed < set.splits; ++seed) {
      const TableSplit split = split_table(read, options, seed);
      CHECK(std::ssize(split.test) == set.test);
      CHECK(std::ssize(split.train) == set.rows - set.test);
    }
  }
}

TEST_CASE("a published split is the file's own", "[supervised][tables][data-set]") {
  if (!find_data_set("uci-regression")) test::skip("no data set uci-regression");
  const TableOptions options{.data = "boston"};
  const TableSet boston = read_table_set(options, TargetKind::number);
  const TableSplit first = split_table(boston, options, 0);
  // The line begins with 431 115 470.
  for (const std::int64_t row : {431, 115, 470}) CHECK(std::ranges::binary_search(first.test, row));
  CHECK(boston.table.columns[boston.target].numbers[0] == 24);  // the first line ends in 24.00
  CHECK_ERROR(split_table(boston, options, 20), usage, "20 published splits", "expected seeds from 0 to 19, got 20",
              "splits=random");
}

TEST_CASE("the test rows of all published splits are those of the files", "[supervised][tables][data-set]") {
  const auto folder = find_data_set("uci-regression");
  if (!folder) test::skip("no data set uci-regression");
  for (const char* const name :
       {"boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine-red", "yacht"}) {
    INFO(name);
    const TableOptions options{.data = name, .validation_share = 0};
    const TableSet set = read_table_set(options, TargetKind::number);
    std::ifstream lines(*folder / name / "splits_test.txt");
    std::uint64_t seed = 0;
    for (std::string line; std::getline(lines, line); ++seed) {
      std::istringstream numbers(line);
      std::vector<std::int64_t> rows{std::istream_iterator<std::int64_t>(numbers), {}};
      std::ranges::sort(rows);
      CHECK(split_table(set, options, seed).test == rows);
    }
    CHECK(seed == set.splits.size());
  }
}

TEST_CASE("parts have no row in common and are all rows; the same seed draws the same", "[supervised][tables]") {
  Own own;
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + ",1\n";
  const TableSet set = own.read(text);
  own.options.test_share = 0.2, own.options.validation_share = 0.25;
  const TableSplit split = split_table(set, own.options, 3);
  CHECK(split.test.size() == 20);
  CHECK(split.validation.size() == 20);
  CHECK(split.train.size() == 60);
  std::set<std::int64_t> rows(split.test.begin(), split.test.end());
  rows.insert(split.validation.begin(), split.validation.end());
  rows.insert(split.train.begin(), split.train.end());
  CHECK(rows.size() == 100);
  CHECK(split_table(set, own.options, 3).test == split.test);
  CHECK(split_table(set, own.options, 4).test != split.test);
  own.options.split_seed = 1;
  CHECK(split_table(set, own.options, 3).test != split.test);
  own.options.test_share = 0.999;
  CHECK_ERROR(split_table(set, own.options, 3), data, "none is left for training");
  own.options.test_share = 0.001;
  CHECK_ERROR(split_table(set, own.options, 3), data, "none is left for the test");
}

TEST_CASE("a file for the test is the test part, by names of columns", "[supervised][tables]") {
  Own own;
  const TableSet set = own.read("x,k,y\n1,a,2\n3,b,4\n", "y,more,k,x\n6,7,c,5\n");
  CHECK(set.given_test == 2);
  CHECK(set.table.rows() == 3);
  CHECK(set.table.columns[0].numbers == std::vector<double>{1, 3, 5});
  CHECK(set.table.columns[1].categories == std::vector<std::string>{"a", "b", "c"});
  CHECK(set.table.columns[1].levels == std::vector<std::int32_t>{0, 1, 2});
  CHECK(set.table.columns[2].numbers == std::vector<double>{2, 4, 6});
  own.options.validation_share = 0;
  const TableSplit split = split_table(set, own.options, 7);
  CHECK(split.test == Rows{2});
  CHECK(split.train == Rows{0, 1});
  CHECK(set.table.checksums.size() == 2);
}

TEST_CASE("the target of classes is one of categories, whatever it looks like", "[supervised][tables]") {
  Own own;
  const TableSet set = own.read("x,y\n1,10\n2,9\n3,10\n", TargetKind::category);
  CHECK(set.table.columns[set.target].categories == std::vector<std::string>{"9", "10"});
  CHECK(set.inputs == std::vector<std::size_t>{0});
}

TEST_CASE("a table that cannot be learned from says why", "[supervised][tables]") {
  Own own;
  CHECK_ERROR(own.read("x,y\n1,2\n3,?\n"), data, "table.csv', row 2: the target 'y' has no value");
  CHECK_ERROR(own.read("x,y\n1,2\n3,high\n"), data, "row 2: the target 'y' is to be a number", "'high'");
  CHECK_ERROR(own.read("y\n2\n"), usage, "no column but the target");
  CHECK_ERROR(own.read("x,y\n1,2\n", "x\n1\n"), data, "test.csv' has no column 'y'");
  CHECK_ERROR(own.read("x,y\n1,2\n", "x,y\na,1\n"), data, "test.csv': the column 'x' has the text 'a'");
  CHECK_ERROR(own.read("x,y\n1,2\n", "x,y\n1,?\n"), data, "test.csv', row 1: the target 'y' has no value");
  CHECK_ERROR(own.read("x,y\n1,a\n", "x,y\n1,b\n", TargetKind::category), data, "the class 'b' is in no row of");
  own.options.test_data.clear();
  own.options.ignore = {"y"};
  CHECK_ERROR(own.read("x,y\n1,2\n"), usage, "cannot be the target and be ignored");
  own.options = {.target = "z"};
  CHECK_ERROR(own.read("x,y\n1,2\n"), usage, "no column 'z', which `target` names");
  own.options.target = "";
  CHECK_ERROR(own.read("x,y\n1,2\n"), usage, "which column is to be predicted?", "x, y");
  CHECK_ERROR(read_table_set({.data = "regression-toy", .target = "x"}, TargetKind::number), usage, "option 'target'",
              "has its own");
  CHECK_ERROR(read_table_set({.data = "bostn"}, TargetKind::number), usage, "Did you mean 'boston'");
}

TEST_CASE("the made-up regression is its formula without the noise, and leaves a gap", "[supervised][tables]") {
  const TableSet set = read_table_set({.data = "regression-toy", .synthetic_rows = 2000}, TargetKind::number);
  CHECK(set.synthetic);
  const std::vector<double>&x = set.table.columns[0].numbers, &y = set.table.columns[1].numbers;
  std::int64_t low = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK((x[i] < 0.6 || x[i] > 0.8));
    low += x[i] < 0.6;
    // |dy/dx| < 1 + 4 + 13, and noise in x is below 6.7 sd.
    CHECK(std::abs(y[i] - (x[i] + std::sin(4 * x[i]) + std::sin(13 * x[i]))) < 18 * 0.03 * 6.7);
  }
  CHECK(low == 1200);
}

TEST_CASE("features of one's own are a table with the test that comes with them", "[supervised][tables]") {
  const test::TemporaryDirectory folder;
  TableOptions options{.data =
                           test::write_npy<float>(folder / "train.npy", "<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}).string()};
  CHECK(options.is_arrays());
  CHECK_ERROR(read_table_set(options, TargetKind::category), usage, "--target FILE.npy");
  options.target = test::write_npy<std::int64_t>(folder / "classes.npy", "<i8", "(3,)", {4, 2, 4}).string();
  const TableSet set = read_table_set(options, TargetKind::category);
  CHECK(set.name == "train");
  CHECK(set.inputs == std::vector<std::size_t>{0, 1});
  CHECK(set.table.columns[set.target].categories == std::vector<std::string>{"2", "4"});
  CHECK(read_table_set(options, TargetKind::number).table.columns[set.target].numbers == std::vector<double>{4, 2, 4});

  options.test_data = test::write_npy<float>(folder / "test.npy", "<f4", "(1, 2)", {7, 8});
  CHECK_ERROR(read_table_set(options, TargetKind::category), usage, "test.npy", "test_target=FILE.npy");
  options.test_target = test::write_npy<std::int64_t>(folder / "test_classes.npy", "<i8", "(1,)", {4}).string();
  const TableSet with_test = read_table_set(options, TargetKind::category);
  CHECK(with_test.given_test == 3);
  CHECK(with_test.table.columns[1].numbers[3] == 8);
  CHECK(with_test.table.columns[2].levels[3] == 1);
  test::write_npy<std::int64_t>(folder / "test_classes.npy", "<i8", "(1,)", {5});
  CHECK_ERROR(read_table_set(options, TargetKind::category), data, "the class '5' is in no row of");
  test::write_npy<float>(folder / "test.npy", "<f4", "(1, 3)", {7, 8, 9});
  CHECK_ERROR(read_table_set(options, TargetKind::category), data, "has 3 features: expected 2");
}

}  // namespace
}  // namespace stein::supervised
