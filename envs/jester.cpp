#include <stein/core/data/csv_table.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/envs/jester.h>

#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Jester>("jester", "which of eight jokes, by ratings of 32 others: 19,181 persons") &&
    register_bandit<SyntheticJester>("jester-synthetic", "which of eight jokes: made-up ratings of the same shape");

constexpr std::size_t jokes = Jester::seen + Jester::arms;

Table read_ratings(const DataSource& source) {
  const auto folder = require_data_set("jester", source.directory, "'jester-synthetic' needs none");
  return read_csv_table(data_file(folder, data_set("jester").files.front().name));
}

std::string describe_ratings() {
  const DataFile& file = data_set("jester").files.front();
  return fmt::format("Riquelme, Tucker & Snoek 2018; {}, sha256 {}", file.name, file.sha256);
}

ContextTable contexts_of(const Table& ratings, bool standardize) {
  std::array<std::size_t, Jester::seen> seen{};
  std::iota(seen.begin(), seen.end(), std::size_t{0});
  return {ratings, seen, standardize ? Scaling::standardized : Scaling::as_they_are};
}

/// [rows, arms]
std::vector<double> rewards_of(const Table& ratings) {
  std::vector<double> rewards;
  for (std::size_t row = 0; row < static_cast<std::size_t>(ratings.rows()); ++row)
    for (std::size_t joke = Jester::seen; joke < jokes; ++joke) rewards.push_back(ratings.columns[joke].numbers[row]);
  return rewards;
}

/// [jokes] levels, and [jokes, factors] loadings.
struct Jokes {
  static constexpr std::size_t factors = 4;
  std::array<double, jokes> levels{};
  std::array<std::array<double, factors>, jokes> loadings{};

  explicit Jokes(std::uint64_t instance) {
    for (std::size_t joke = 0; joke < jokes; ++joke) {
      Draws draws({instance, 0, Stream::environment}, static_cast<std::uint32_t>(joke));
      levels[joke] = draws.normal() / 2;
      for (double& loading : loadings[joke]) loading = draws.normal() / 2;
    }
  }
};

Table draw_ratings(std::int64_t rows, std::uint64_t instance) {
  const Jokes truth(instance);
  Table table;
  for (std::size_t joke = 0; joke < jokes; ++joke) table.columns.push_back({.name = fmt::format("{}", joke + 1)});
  for (std::int64_t row = 0; row < rows; ++row) {
    Draws draws({instance, 0, Stream::data}, static_cast<std::uint32_t>(row));
    std::array<double, Jokes::factors> person{};
    for (double& factor : person) factor = draws.normal();
    for (std::size_t joke = 0; joke < jokes; ++joke) {
      const auto& loading = truth.loadings[joke];
      const double liking =
          std::inner_product(loading.begin(), loading.end(), person.begin(), truth.levels[joke] + draws.normal() / 2);
      table.columns[joke].numbers.push_back(10 * std::tanh(liking));
    }
  }
  return table;
}

BanditSpec spec_of(const Table& ratings, std::string name, std::string data, std::string source) {
  BanditSpec spec;
  spec.name = std::move(name);
  spec.arms = Jester::arms;
  spec.data = std::move(data);
  spec.source = std::move(source);
  for (std::size_t joke = Jester::seen; joke < jokes; ++joke)
    spec.arm_names.push_back("joke " + ratings.columns[joke].name);
  return spec;
}

}  // namespace

Jester::Jester(const Options& options, const DataSource& source)
    : Jester(options, read_ratings(source), "jester", "real", describe_ratings()) {}

Jester::Jester(const Options& options, const Table& ratings, std::string name, std::string data, std::string source)
    : TableBandit(spec_of(ratings, std::move(name), std::move(data), std::move(source)),
                  contexts_of(ratings, options.standardize), {.expected = rewards_of(ratings)}) {}

SyntheticJester::SyntheticJester(const Options& options, const DataSource&)
    : Jester(options, draw_ratings(options.rows, static_cast<std::uint64_t>(options.instance)), "jester-synthetic",
             "synthetic", fmt::format("made-up ratings of {} persons, instance {}", options.rows, options.instance)) {}

}  // namespace stein::envs
