#include <stein/core/data/manifest.h>
#include <stein/core/data/number_table.h>
#include <stein/core/error.h>
#include <stein/envs/financial.h>
#include <stein/envs/linear_scores.h>

#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Financial>("financial", "which of eight portfolios, by the day's prices of 21 stocks");

Table read_prices(const DataSource& source) {
  const auto folder = require_data_set("financial", source.directory, "'linear' needs none");
  const auto path = data_file(folder, data_set("financial").files.front().name);
  Table prices = read_number_table(path, 1);
  if (std::ssize(prices.columns) != Financial::stocks)
    fail(ErrorKind::data, "'{}': expected {} numbers in a row, found {}", path.string(), Financial::stocks,
         prices.columns.size());
  return prices;
}

ContextTable contexts_of_days(const Table& prices, bool standardize) {
  std::array<std::size_t, Financial::stocks> all{};
  std::iota(all.begin(), all.end(), std::size_t{0});
  return {prices, all, standardize ? Scaling::standardized : Scaling::as_they_are};
}

/// x·β of every day and portfolio, [rows, arms].
std::vector<double> worth_of_portfolios(const Table& prices, std::int64_t instance) {
  const LinearScores scores(Financial::arms, Financial::stocks, Financial::stocks,
                            static_cast<std::uint64_t>(instance));
  const std::span<const double> weights = scores.coefficients();
  constexpr auto stocks = static_cast<std::size_t>(Financial::stocks), arms = static_cast<std::size_t>(Financial::arms);
  std::vector<double> worth(static_cast<std::size_t>(prices.rows()) * arms);
  for (std::size_t i = 0; i < worth.size(); ++i)
    for (std::size_t stock = 0; stock < stocks; ++stock)
      worth[i] += weights[i % arms * stocks + stock] * prices.columns[stock].numbers[i / arms];
  return worth;
}

BanditSpec spec_of_portfolios(const Table& prices, std::string name, std::int64_t instance) {
  BanditSpec spec;
  spec.name = std::move(name);
  spec.arms = Financial::arms;
  spec.data = "real";
  spec.source = fmt::format("Riquelme, Tucker & Snoek 2018; {} days, instance {}", prices.rows(), instance);
  for (const auto& [file, sha256] : prices.checksums) spec.source += fmt::format("; {}, sha256 {}", file, sha256);
  return spec;
}

}  // namespace

Financial::Financial(const Options& options, const DataSource& source)
    : Financial(options, read_prices(source), "financial") {}

Financial::Financial(const Options& options, const Table& prices, std::string name)
    : TableBandit(spec_of_portfolios(prices, std::move(name), options.instance),
                  contexts_of_days(prices, options.standardize),
                  {.expected = worth_of_portfolios(prices, options.instance), .noise = options.noise}) {}

}  // namespace stein::envs
