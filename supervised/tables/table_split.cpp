#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/core/shuffle.h>
#include <stein/supervised/tables/table_encoding.h>
#include <stein/supervised/tables/table_split.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace stein::supervised {
namespace {

using Rows = std::vector<std::int64_t>;

/// So many of `rows`, in ascending order. @param draw  tells draws from the same key apart
Rows drawn(Rows rows, double share, const NoiseKey& key, std::uint32_t draw) {
  const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows.size())));
  Draws draws(key, draw);
  shuffle(std::span(rows), draws);
  rows.resize(count);
  std::ranges::sort(rows);
  return rows;
}

Rows without(const Rows& all, const Rows& taken) {
  Rows left;
  std::ranges::set_difference(all, taken, std::back_inserter(left));
  return left;
}

}  // namespace

TableSplit split_table(const TableSet& set, const TableOptions& options, std::uint64_t seed) {
  const NoiseKey key{.seed = static_cast<std::uint64_t>(options.split_seed), .step = seed, .stream = Stream::data};
  const Rows all = all_rows(set.table.rows());
  TableSplit split;
  if (set.given_test > 0) {
    split.test.assign(all.begin() + set.given_test, all.end());
  } else if (!set.splits.empty() && options.splits == TableOptions::Splits::published) {
    STEIN_CHECK(seed < set.splits.size(),
                "'{}' has {} published splits: expected seeds from 0 to {}, got {}; splits=random has as many as there "
                "are seeds",
                set.name, set.splits.size(), set.splits.size() - 1, seed);
    split.test = set.splits[seed];
  } else {
    split.test = drawn(all, options.test_share, key, 0);
  }
  const Rows others = without(all, split.test);
  split.validation = drawn(others, options.validation_share, key, 1);
  split.train = without(others, split.validation);
  if (split.test.empty()) fail(ErrorKind::data, "of {} rows none is left for the test", all.size());
  if (split.train.empty()) fail(ErrorKind::data, "of {} rows none is left for training", all.size());
  return split;
}

}  // namespace stein::supervised
