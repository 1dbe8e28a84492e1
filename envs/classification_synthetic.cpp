#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/envs/classification_synthetic.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace stein::envs {
namespace {

const bool registered = register_bandit<SyntheticClassification>(
    "classification-synthetic", "which of several rings, a table of the shape of shuttle that needs no file");

constexpr double most_cells = 1e8;

using Vector = std::vector<double>;

double inner(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void normalize(Vector& vector) {
  const double length = std::sqrt(inner(vector, vector));
  for (double& value : vector) value /= length;
}

/// Two orthogonal directions of unit length, uniform among all.
std::pair<Vector, Vector> draw_directions(std::size_t columns, std::uint64_t instance) {
  Draws draws({instance, 0, Stream::environment}, 0);
  std::pair<Vector, Vector> directions{Vector(columns), Vector(columns)};
  auto& [u, v] = directions;
  for (double& value : u) value = draws.normal();
  normalize(u);
  for (double& value : v) value = draws.normal();
  const double common = inner(u, v);
  for (std::size_t c = 0; c < columns; ++c) v[c] -= common * u[c];
  normalize(v);
  return directions;
}

Table draw_table(const SyntheticClassification::Options& options) {
  const double cells = static_cast<double>(options.rows) * static_cast<double>(options.columns);
  STEIN_CHECK(cells <= most_cells, "rows x columns must be at most {:.0f}, got {} x {}", most_cells, options.rows,
              options.columns);
  const auto rows = static_cast<std::size_t>(options.rows), columns = static_cast<std::size_t>(options.columns);
  const auto instance = static_cast<std::uint64_t>(options.instance);
  const auto [u, v] = draw_directions(columns, instance);
  const std::vector<double> shares = SyntheticClassification::shares(options.arms);
  Vector ends(shares.size());
  std::partial_sum(shares.begin(), shares.end(), ends.begin());

  Table table;
  for (std::size_t c = 0; c < columns; ++c) {
    table.columns.push_back({.name = fmt::format("x{}", c)});
    table.columns.back().numbers.resize(rows);
  }
  Column ring{.name = "ring"};
  for (std::int64_t arm = 0; arm < options.arms; ++arm) ring.categories.push_back(fmt::format("ring {}", arm));
  Vector x(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    Draws draws({instance, 0, Stream::data}, static_cast<std::uint32_t>(row));
    for (std::size_t c = 0; c < columns; ++c) table.columns[c].numbers[row] = x[c] = draws.normal();
    const double along_u = inner(u, x), along_v = inner(v, x);
    const double s = -std::expm1(-(along_u * along_u + along_v * along_v) / 2);
    const auto place = std::ranges::lower_bound(ends, s) - ends.begin();
    ring.levels.push_back(static_cast<std::int32_t>(std::min(place, std::ssize(ends) - 1)));
  }
  table.columns.push_back(std::move(ring));
  return table;
}

}  // namespace

SyntheticClassification::SyntheticClassification(const Options& options, const DataSource&)
    : Classification(draw_table(options), "ring",
                     {.name = "classification-synthetic",
                      .data = "synthetic",
                      .source = fmt::format("rings in two of {} dimensions, {} rows, instance {}", options.columns,
                                            options.rows, options.instance)}) {}

std::vector<double> SyntheticClassification::shares(std::int64_t arms) {
  std::vector<double> shares;
  for (std::int64_t k = 0; k < arms; ++k) shares.push_back(std::pow(1.0 + static_cast<double>(k), -3));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace stein::envs
