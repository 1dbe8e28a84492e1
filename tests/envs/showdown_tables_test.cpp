#include <stein/core/data/manifest.h>
#include <stein/envs/showdown_tables.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "core/environment_variable.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::envs {
namespace {

/// What a walk over all rows of a bandit of classes finds.
struct Walk {
  std::int64_t rows = 0;
  std::vector<std::int64_t> counts;         ///< rows of each class
  std::vector<double> means, mean_squares;  ///< of each number of the context
};

/// Visits rows until each of `rows` has turned up, but for a chance of rows · exp(−32) ≤ 6e-10 for 45,222 of them.
Walk walk(BanditEnvironment& bandit, std::int64_t rows) {
  const auto columns = static_cast<std::size_t>(bandit.spec().context_size);
  Walk found{.counts = std::vector<std::int64_t>(static_cast<std::size_t>(bandit.spec().arms)),
             .means = std::vector<double>(columns),
             .mean_squares = std::vector<double>(columns)};
  std::vector<bool> seen(static_cast<std::size_t>(rows));
  for (std::int64_t step = 0; step < 32 * rows; ++step) {
    const Context context = bandit.observe(2, step);
    REQUIRE(bandit.row() < rows);
    if (seen[static_cast<std::size_t>(bandit.row())]) continue;
    seen[static_cast<std::size_t>(bandit.row())] = true;
    ++found.rows;
    for (std::size_t c = 0; c < columns; ++c) {
      found.means[c] += context.dense[c] / static_cast<double>(rows);
      found.mean_squares[c] += double{context.dense[c]} * context.dense[c] / static_cast<double>(rows);
    }
    double total = 0;
    for (std::size_t arm = 0; arm < found.counts.size(); ++arm) {
      const double reward = bandit.reward(static_cast<std::int64_t>(arm));
      REQUIRE(reward == bandit.expected_rewards()[arm]);
      found.counts[arm] += reward == 1;
      total += reward;
    }
    REQUIRE(total == 1);
  }
  return found;
}

/// Every number of the context has mean 0 and mean square 1, but `constant` of them, which are 0.
void check_standardized(const Walk& found, int constant = 0) {
  int zeros = 0;
  for (std::size_t c = 0; c < found.means.size(); ++c) {
    INFO("number " << c);
    CHECK(found.means[c] == Approx(0).margin(2e-5));
    zeros += found.mean_squares[c] == 0;
    if (found.mean_squares[c] != 0) CHECK(found.mean_squares[c] == Approx(1).epsilon(2e-5));
  }
  CHECK(zeros == constant);
}

TEST_CASE("Shuttle has the 43,500 rows of its training part and the class counts of its documentation",
          "[envs][showdown-tables][data-set]") {
  if (!find_data_set("shuttle")) test::skip("no data set shuttle");
  Shuttle bandit({}, {});
  const BanditSpec& spec = bandit.spec();
  CHECK(spec.arms == 7);
  CHECK(spec.context_size == 9);
  CHECK(spec.arm_names ==
        std::vector<std::string>{"Rad Flow", "Fpv Close", "Fpv Open", "High", "Bypass", "Bpv Close", "Bpv Open"});
  CHECK(spec.data == "real");
  CHECK(spec.reward_deviation.value() == Approx(std::sqrt(6.0) / 7).epsilon(1e-12));
  CHECK(spec.source.find("shuttle.trn, sha256 15e89d56") != std::string::npos);
  CHECK(spec.source.find("shuttle.tst") == std::string::npos);
  const Walk found = walk(bandit, 43'500);
  CHECK(found.rows == 43'500);
  CHECK(found.counts == std::vector<std::int64_t>{34108, 37, 132, 6748, 2458, 6, 11});
  check_standardized(found);
  CHECK(bandit.probes().size() == 7);
}

TEST_CASE("the first rows of Covertype are 2,160 of each tree, and two soil types do not occur",
          "[envs][showdown-tables][data-set]") {
  if (!find_data_set("covertype")) test::skip("no data set covertype");
  SmallCovertype bandit({}, {});
  CHECK(bandit.spec().context_size == 54);
  // In the order of covtype.info.
  CHECK(bandit.spec().arm_names == std::vector<std::string>{"spruce/fir", "lodgepole pine", "ponderosa pine",
                                                            "cottonwood/willow", "aspen", "Douglas fir", "krummholz"});
  const Walk found = walk(bandit, 15'120);
  CHECK(found.rows == 15'120);
  CHECK(found.counts == std::vector<std::int64_t>(7, 2160));
  check_standardized(found, 2);
}

TEST_CASE("Adult has 45,222 complete rows; its arms are occupations or incomes, and what is asked for is not shown",
          "[envs][showdown-tables][data-set]") {
  if (!find_data_set("adult")) test::skip("no data set adult");
  Adult occupation({}, {});
  CHECK(occupation.spec().arms == 14);
  // Six numbers, and 7 + 16 + 7 + 6 + 5 + 2 + 41 + 2 categories.
  CHECK(occupation.spec().context_size == 92);
  CHECK(occupation.spec().reward_deviation.value() == Approx(std::sqrt(13.0) / 14).epsilon(1e-12));
  const Walk found = walk(occupation, 45'222);
  CHECK(found.rows == 45'222);
  // Counted by another program, in the order of the alphabet.
  CHECK(found.counts ==
        std::vector<std::int64_t>{5540, 14, 6020, 5984, 1480, 2046, 2970, 4808, 232, 6008, 976, 5408, 1420, 2316});
  check_standardized(found);

  Adult income({.target = Adult::Target::income}, {});
  CHECK(income.spec().arm_names == std::vector<std::string>{"<=50K", ">50K"});
  CHECK(income.spec().context_size == 104);  // 14 occupations instead of two incomes
  CHECK(walk(income, 45'222).counts == std::vector<std::int64_t>{34'014, 11'208});
}

TEST_CASE("Covertype as a whole has 581,012 rows", "[envs][showdown-tables][data-set][slow]") {
  if (!find_data_set("covertype-full")) test::skip("no data set covertype-full");
  Covertype bandit({}, {});
  CHECK(bandit.spec().context_size == 54);
  // UCI's covtype.info.
  CHECK(walk(bandit, 581'012).counts ==
        std::vector<std::int64_t>{211'840, 283'301, 35'754, 2747, 9493, 17'367, 20'510});
}

TEST_CASE("the census has nine occupations", "[envs][showdown-tables][data-set][slow]") {
  if (!find_data_set("census")) test::skip("no data set census");
  Census bandit({}, {});
  CHECK(bandit.spec().arms == 9);
  CHECK(bandit.probes().size() == 9);
}

TEST_CASE("without their files these bandits say how to get them, and altered files are refused",
          "[envs][showdown-tables]") {
  const test::TemporaryDirectory folder;
  const test::EnvironmentVariable data("STEIN_DATA", folder.path().string());
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path().string());
  constexpr const char* stand_in = "'classification-synthetic' needs none";
  CHECK_ERROR(Shuttle({}, {}), data, "stein data fetch shuttle", "--data or $STEIN_DATA", stand_in);
  CHECK_ERROR(Covertype({}, {}), data, "stein data fetch covertype-full", "--data or $STEIN_DATA", stand_in);
  CHECK_ERROR(SmallCovertype({}, {}), data, "data set covertype is", stand_in);
  CHECK_ERROR(Adult({}, {}), data, "stein data fetch adult", stand_in);
  CHECK_ERROR(Census({}, {}), data, "stein data fetch census", stand_in);
  CHECK_ERROR(Shuttle({}, {"/nowhere"}), data, "'/nowhere' does not exist");
  test::write(folder / "covtype.data", "1,2,3\n");
  CHECK_ERROR(Covertype({}, {}), data, "covtype.data", "expected 75169317 bytes, found 6");
  test::write(folder / "USCensus1990.data.txt", "caseid\n");
  CHECK_ERROR(Census({}, {}), data, "USCensus1990.data.txt", "expected 361344227 bytes, found 7");
  test::write_gzip(folder / "shuttle.trn.gz", "1,2,3\n");
  test::write_gzip(folder / "shuttle.tst.gz", "1,2,3\n");
  CHECK_ERROR(Shuttle({}, {}), data, "shuttle.trn", "expected 1153518 bytes, found 6");
}

}  // namespace
}  // namespace stein::envs
