#include <stein/replay/feature_hash.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

using namespace stein::replay;

namespace {

/// Vectors x and y of 40 features, of which 20 are in both.
struct Pair {
  std::vector<double> x, y;

  Pair() {
    for (int i = 0; i < 60; ++i) {
      x.push_back(i < 40 ? 1 + 0.1 * i : 0);
      y.push_back(i >= 20 ? 2 - 0.05 * i : 0);
    }
  }
  static std::vector<float> hashed(const std::vector<double>& values, std::uint64_t space, std::size_t columns) {
    std::vector<float> result(columns);
    ColumnUse use(static_cast<std::int64_t>(columns));
    for (std::size_t i = 0; i < values.size(); ++i)
      add_hashed(hash_name("f" + std::to_string(i), space), static_cast<float>(values[i]), result, use);
    return result;
  }
};

}  // namespace

TEST_CASE("a name has the hash that XXH3 publishes for it", "[replay][hash]") {
  CHECK(hash_name("") == 0x2D06800538D394C2);
  CHECK(hash_name("id") != hash_name("id", 1));
  CHECK(hash_name("id", hash_name("Action")) != hash_name("Action", hash_name("id")));
}

TEST_CASE("names are spread evenly over columns and signs", "[replay][hash]") {
  constexpr int names = 64'000;
  constexpr std::size_t columns = 32;
  std::vector<double> positive(columns), negative(columns);
  ColumnUse use(columns);
  for (int i = 0; i < names; ++i) {
    std::vector<float> row(columns);
    add_hashed(hash_name("name" + std::to_string(i)), 1, row, use);
    for (std::size_t c = 0; c < columns; ++c) {
      if (row[c] > 0) ++positive[c];
      if (row[c] < 0) ++negative[c];
    }
  }
  double squares = 0;
  constexpr double expected = names / 64.0;
  for (std::size_t c = 0; c < columns; ++c)
    for (const double count : {positive[c], negative[c]}) squares += (count - expected) * (count - expected) / expected;
  CHECK(std::abs(squares - 63) < 6.1 * std::sqrt(2 * 63.0));  // chi-squared with 63 degrees of freedom
}

TEST_CASE("an inner product is kept in expectation, with the published variance", "[replay][hash]") {
  const Pair pair;
  const std::size_t columns = GENERATE(8, 33);
  double product = 0, variance = 0;
  for (std::size_t i = 0; i < pair.x.size(); ++i) {
    product += pair.x[i] * pair.y[i];
    for (std::size_t j = 0; j < pair.x.size(); ++j)  // Weinberger et al. 2009, lemma 2
      if (i != j)
        variance += pair.x[i] * pair.x[i] * pair.y[j] * pair.y[j] + pair.x[i] * pair.y[i] * pair.x[j] * pair.y[j];
  }
  variance /= static_cast<double>(columns);
  constexpr int draws = 20'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const std::uint64_t space = hash_name("space" + std::to_string(draw));
    const std::vector<float> x = Pair::hashed(pair.x, space, columns), y = Pair::hashed(pair.y, space, columns);
    double found = 0;
    for (std::size_t c = 0; c < columns; ++c) found += static_cast<double>(x[c]) * y[c];
    const double error = found - product;
    sum += error, squares += error * error, fourth += error * error * error * error;
  }
  CHECK(std::abs(sum / draws) < 6.1 * std::sqrt(variance / draws));
  const double spread = std::sqrt((fourth / draws - squares / draws * squares / draws) / draws);
  CHECK(std::abs(squares / draws - variance) < 6.1 * spread);
}

TEST_CASE("where there are no columns nothing is hashed, and one column takes all", "[replay][hash]") {
  ColumnUse none(0), single(1);
  add_hashed(hash_name("a"), 1, {}, none);
  std::vector<float> one(1);
  add_hashed(hash_name("a"), 3, one, single);
  CHECK(std::abs(one[0]) == 3);
  CHECK(bucket_of(hash_name("a"), 1) == 0);
}
