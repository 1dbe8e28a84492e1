#include <fmt/format.h>
#include <stein/core/csv_rows.h>
#include <stein/core/error.h>
#include <stein/core/line_reader.h>
#include <stein/core/rng.h>
#include <stein/replay/fixed_propensities.h>
#include <stein/replay/words.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace stein::replay {
namespace {

const bool registered = policies::register_bandit_policy<FixedPropensities>(
    "fixed-propensities",
    "arms with probabilities from the file of its option `table`, by position on a page or the same in all contexts");

constexpr std::int64_t every_context = -1;

bool is_set(const envs::Context& context, std::int64_t column) {
  if (!context.dense.empty()) return context.dense[static_cast<std::size_t>(column)] != 0;
  return std::ranges::find(context.active, static_cast<std::int32_t>(column)) != context.active.end();
}

}  // namespace

FixedPropensities::FixedPropensities(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : table_(options.table.string()), spec_(spec), seed_(seed) {
  STEIN_CHECK(!table_.empty(), "the policy fixed-propensities needs the option `table`: a file of propensities");
  STEIN_CHECK(!spec_.arm_names.empty(),
              "the arms of '{}' have no names by which a table could mean them; of a csv log, `arm_names` says them",
              spec_.name);
  read();
  check_sums();
}

void FixedPropensities::read() {
  constexpr std::size_t most_columns = 3;
  LineReader lines(table_);
  CsvRows rows(most_columns);
  std::string_view line;
  if (!lines.next(line) || !rows.read_header(line) || !rows.find("arm") || !rows.find("propensity") ||
      (rows.columns().size() == most_columns && !rows.find("column")))
    lines.fail_here("expected a header with arm, propensity and perhaps column");
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (const std::string_view reason = rows.read_row(line); !reason.empty()) lines.fail_here("{}", reason);
    const std::string_view name = rows.fields()[*rows.find("arm")];
    const std::int64_t arm = std::ranges::find(spec_.arm_names, name) - spec_.arm_names.begin();
    if (arm == std::ssize(spec_.arm_names)) lines.fail_here("'{}' has no arm '{}'", spec_.name, name);
    std::int64_t column = every_context;
    if (const auto field = rows.find("column");
        field && (!read_number(rows.fields()[*field], column) || column < 0 || column >= spec_.context_size))
      lines.fail_here("expected a column of 0 to {}, got '{}'", spec_.context_size - 1, rows.fields()[*field]);
    if (!seen.emplace(column, arm).second) lines.fail_here("the arm '{}' is there twice", name);
    double propensity = 0;
    if (!read_number(rows.fields()[*rows.find("propensity")], propensity) || !(propensity >= 0 && propensity <= 1))
      lines.fail_here("expected a propensity in [0, 1], got '{}'", rows.fields()[*rows.find("propensity")]);
    std::vector<double>& arms = distributions_[column];
    arms.resize(spec_.arm_names.size());
    arms[static_cast<std::size_t>(arm)] = propensity;
  }
}

void FixedPropensities::check_sums() const {
  constexpr double tolerance = 1e-6;
  if (distributions_.empty()) fail(ErrorKind::data, "'{}': there is no arm in the table", table_);
  for (const auto& [column, arms] : distributions_)
    if (const double sum = std::accumulate(arms.begin(), arms.end(), 0.0); std::abs(sum - 1) > tolerance)
      fail(ErrorKind::data, "'{}': expected propensities whose sum is 1, got {:.7g}{}", table_, sum,
           column == every_context ? "" : fmt::format(" in column {}", column));
}

const std::vector<double>& FixedPropensities::distribution(const envs::Context& context) const {
  const std::vector<double>* found = nullptr;
  for (const auto& [column, arms] : distributions_) {
    if (column != every_context && !is_set(context, column)) continue;
    if (found != nullptr) fail(ErrorKind::data, "'{}' has two distributions for the same context", table_);
    found = &arms;
  }
  if (found == nullptr)
    fail(ErrorKind::data, "'{}' has no distribution for a context in which all of its columns are zero", table_);
  return *found;
}

policies::Decision FixedPropensities::decide(const envs::Context& context, std::int64_t step,
                                             policies::Propensities wanted) {
  const std::vector<double>& arms = distribution(context);
  const std::int64_t choices = context.choices(spec_);
  propensities_.clear();
  for (std::int64_t place = 0; place < choices; ++place)
    propensities_.push_back(arms[static_cast<std::size_t>(context.arm(place))]);
  const double sum = std::accumulate(propensities_.begin(), propensities_.end(), 0.0);
  if (!(sum > 0)) fail(ErrorKind::data, "'{}' gives none of the arms that can be chosen a propensity", table_);
  for (double& propensity : propensities_) propensity /= sum;
  double left = Draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0).uniform();
  std::int64_t chosen = 0;
  for (std::int64_t place = 0; place < choices && left >= 0; ++place) {
    const double share = propensities_[static_cast<std::size_t>(place)];
    if (share == 0) continue;  // what rounding leaves over goes to the last arm that has a share
    left -= share;
    chosen = place;
  }
  policies::Decision decision{.action = context.arm(chosen)};
  if (wanted == policies::Propensities::exact) decision.propensities = propensities_;
  return decision;
}

std::vector<double> FixedPropensities::all_propensities() const {
  std::vector<double> all;
  for (const auto& [column, arms] : distributions_) {
    all.push_back(static_cast<double>(column));
    all.insert(all.end(), arms.begin(), arms.end());
  }
  return all;
}

void FixedPropensities::save(Snapshot& snapshot) const {
  snapshot.put("table", all_propensities());
}

void FixedPropensities::restore(const Snapshot& snapshot) {
  if (snapshot.contains("table") && snapshot.get_vector<double>("table") != all_propensities())
    fail(ErrorKind::data, "'{}' is not the table that the run began with: begin a new one", table_);
}

}  // namespace stein::replay
