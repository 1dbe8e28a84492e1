// Distributions over actions against their formulas in double precision, and draws against their law.
#include <stein/policies/action_distribution.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/critical_value.h"
#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;
using inference::MatrixView;

namespace {

using test::critical_value;

/// Some rows of parameters and of actions, drawn.
struct Case {
  std::unique_ptr<ActionDistribution> law;
  std::int64_t choices = 0;      ///< 0: Gaussian
  double initial_deviation = 1;  ///< of a Gaussian
  std::int64_t rows = 7;
  std::vector<float> outputs{}, constants{}, actions{}, weights{}, entropy{};

  void fill(std::uint64_t seed) {
    const auto normals = [seed](std::int64_t size, std::uint32_t row, float spread) {
      std::vector<float> numbers(static_cast<std::size_t>(size));
      fill_normal(std::span<float>(numbers), {.seed = seed}, row);
      for (float& number : numbers) number *= spread;
      return numbers;
    };
    outputs = normals(rows * law->outputs(), 0, 0.4F);  // log sd stay inside their limits
    constants = normals(law->constants(), 1, 0.4F);
    actions = normals(rows * law->actions(), 2, 1);
    weights = normals(rows, 3, 1);
    entropy = normals(rows, 4, 1);
    if (choices == 0) return;
    Draws draws({.seed = seed}, 5);
    for (float& action : actions) action = static_cast<float>(draws.integer(static_cast<std::uint32_t>(choices)));
  }
  ActionDistribution::Parameters parameters() const { return {{outputs.data(), rows, law->outputs()}, constants}; }
  MatrixView<const float> taken() const { return {actions.data(), rows, law->actions()}; }
};

Case categorical(std::int64_t choices) {
  return {.law = make_categorical(choices), .choices = choices};
}
Case gaussian(std::int64_t actions, Deviation deviation, double initial_deviation) {
  return {.law = make_gaussian(actions, deviation, initial_deviation), .initial_deviation = initial_deviation};
}

/// log π(a_i | o_i) and H of row i, from numbers in double precision.
struct Exact {
  double log_density = 0, entropy = 0;
};
Exact exact(const Case& which, std::int64_t i, const std::vector<double>& outputs,
            const std::vector<double>& constants) {
  const std::int64_t k = which.law->outputs(), a = which.law->actions();
  const double* const own = outputs.data() + i * k;
  Exact result;
  if (which.choices > 0) {
    double total = 0;
    for (std::int64_t c = 0; c < k; ++c) total += std::exp(own[c]);
    result.log_density = own[std::lround(which.taken()(i, 0))] - std::log(total);
    for (std::int64_t c = 0; c < k; ++c) result.entropy -= std::exp(own[c]) / total * (own[c] - std::log(total));
    return result;
  }
  for (std::int64_t n = 0; n < a; ++n) {
    const double free =
        (constants.empty() ? own[a + n] : constants[static_cast<std::size_t>(n)]) + std::log(which.initial_deviation);
    const double log_sd = std::clamp(free, -5.0, 2.0), z = (double{which.taken()(i, n)} - own[n]) / std::exp(log_sd);
    result.log_density += -0.5 * z * z - log_sd - 0.5 * std::log(2 * M_PI);
    result.entropy += log_sd + 0.5 * std::log(2 * M_PI * M_E);
  }
  return result;
}

/// Σ_i [w_i log π_i + β_i H_i].
double objective(const Case& which, const std::vector<double>& outputs, const std::vector<double>& constants) {
  double sum = 0;
  for (std::int64_t i = 0; i < which.rows; ++i) {
    const Exact row = exact(which, i, outputs, constants);
    sum += double{which.weights[static_cast<std::size_t>(i)]} * row.log_density +
           double{which.entropy[static_cast<std::size_t>(i)]} * row.entropy;
  }
  return sum;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  cases.push_back(categorical(2));
  cases.push_back(categorical(5));
  cases.push_back(gaussian(1, Deviation::constant, 1));
  cases.push_back(gaussian(3, Deviation::constant, 0.4));
  cases.push_back(gaussian(1, Deviation::state, 1));
  cases.push_back(gaussian(3, Deviation::state, 1.7));
  return cases;
}

std::vector<float> draws_of(const Case& which, const NoiseKey& noise, std::uint32_t row, std::int64_t first,
                            std::int64_t begin, std::int64_t end) {
  std::vector<float> drawn(static_cast<std::size_t>((end - begin) * which.law->actions()));
  which.law->draw({which.parameters().outputs.block(begin, end - begin), which.constants}, noise, row, first + begin,
                  {drawn.data(), end - begin, which.law->actions()});
  return drawn;
}

/// One row of parameters, many times.
Case repeated(Case which, std::int64_t rows, const std::vector<float>& outputs) {
  which.rows = rows;
  for (std::int64_t i = 0; i < rows; ++i) which.outputs.insert(which.outputs.end(), outputs.begin(), outputs.end());
  return which;
}

}  // namespace

TEST_CASE("densities, entropies and their gradients are those of the formulas in double precision",
          "[policies][control]") {
  std::vector<Case> cases = all_cases();
  for (Case& which : cases)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      which.fill(seed);
      const ActionDistribution& law = *which.law;
      CAPTURE(which.choices, law.actions(), law.constants(), seed);
      const auto n = static_cast<std::size_t>(which.rows);
      const std::vector<double> outputs(which.outputs.begin(), which.outputs.end()),
          constants(which.constants.begin(), which.constants.end());
      std::vector<float> density(n);
      law.log_density(which.parameters(), which.taken(), density);
      double entropy = 0;
      for (std::int64_t i = 0; i < which.rows; ++i) {
        const Exact row = exact(which, i, outputs, constants);
        CHECK(density[static_cast<std::size_t>(i)] == Approx(row.log_density).epsilon(2e-6).margin(2e-6));
        entropy += row.entropy / static_cast<double>(n);
      }
      CHECK(law.mean_entropy(which.parameters()) == Approx(entropy).epsilon(1e-6).margin(1e-6));

      std::vector<float> gradient(outputs.size(), 7), by_constants(constants.size(), 0.5F);
      law.gradient(which.parameters(), which.taken(), which.weights, which.entropy,
                   {gradient.data(), which.rows, law.outputs()}, by_constants);
      const double h = 1e-5;
      // Central differences are exact to h² and to rounding/h, about 1e-9; the float formula to a few 1e-6.
      for (std::size_t q = 0; q < outputs.size(); ++q) {
        std::vector<double> above = outputs, below = outputs;
        above[q] += h, below[q] -= h;
        const double slope = (objective(which, above, constants) - objective(which, below, constants)) / (2 * h);
        CHECK(gradient[q] == Approx(slope).epsilon(1e-5).margin(1e-5));
      }
      for (std::size_t q = 0; q < constants.size(); ++q) {
        std::vector<double> above = constants, below = constants;
        above[q] += h, below[q] -= h;
        const double slope = (objective(which, outputs, above) - objective(which, outputs, below)) / (2 * h);
        CHECK(by_constants[q] - 0.5F == Approx(slope).epsilon(1e-5).margin(3e-5));  // added to what was there
      }
    }
}

TEST_CASE("beyond the limits of the log sd the density stays and only a slope that leads back counts",
          "[policies][control]") {
  for (const Deviation deviation : {Deviation::constant, Deviation::state})
    for (const float side : {-9.0F, 4.0F}) {  // outside [−5, 2]
      Case which = gaussian(1, deviation, 1);
      const bool state = deviation == Deviation::state;
      which.rows = 1;
      which.outputs = state ? std::vector<float>{0, side} : std::vector<float>{0};
      which.constants = state ? std::vector<float>{} : std::vector<float>{side};
      const double limit = side < 0 ? -5 : 2;
      CAPTURE(state, side);
      CHECK(which.law->mean_entropy(which.parameters()) == Approx(limit + 0.5 * std::log(2 * M_PI * M_E)));
      // An action at the mean: ∂ log π/∂ log σ = −1; one three sd away: 8.
      for (const double z : {0.0, 3.0}) {
        which.actions = {static_cast<float>(z * std::exp(limit))};
        std::vector<float> density(1), gradient(which.outputs.size()), by_constants(which.constants.size());
        which.law->log_density(which.parameters(), which.taken(), density);
        CHECK(density[0] == Approx(-0.5 * z * z - limit - 0.5 * std::log(2 * M_PI)).epsilon(1e-5));
        which.weights = {1}, which.entropy = {0};
        which.law->gradient(which.parameters(), which.taken(), which.weights, which.entropy,
                            {gradient.data(), 1, which.law->outputs()}, by_constants);
        const double slope = z * z - 1;
        const bool back = (side < 0) == (slope > 0);
        CHECK((state ? gradient[1] : by_constants[0]) == Approx(back ? slope : 0).epsilon(1e-5));
      }
    }
}

TEST_CASE("choices are drawn in proportion to the softmax", "[policies][control]") {
  // Chi-square beyond which a law is refused at 1e-8: 32.8 with one degree of freedom, 43.4 with four.
  struct Row {
    std::vector<float> logits;
    double critical;
  };
  for (const Row& row : {Row{{0.3F, -0.7F}, 32.8}, Row{{0.5F, -2, 1, 0, -0.3F}, 43.4}})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const std::int64_t draws = 100'000;
      const auto k = static_cast<std::int64_t>(row.logits.size());
      const Case which = repeated(categorical(k), draws, row.logits);
      std::vector<double> counts(row.logits.size());
      for (const float choice : draws_of(which, {.seed = seed}, 3, 11, 0, draws))
        ++counts.at(static_cast<std::size_t>(choice));
      const auto chi_square = [&](double shift) {  // of the law with `shift` added to the first logit
        std::vector<double> expected(row.logits.begin(), row.logits.end());
        expected[0] += shift;
        double total = 0, sum = 0;
        for (double& share : expected) total += share = std::exp(share);
        for (std::size_t c = 0; c < expected.size(); ++c) {
          const double mean = expected[c] / total * static_cast<double>(draws);
          sum += (counts[c] - mean) * (counts[c] - mean) / mean;
        }
        return sum;
      };
      CAPTURE(k, seed);
      CHECK(chi_square(0) < row.critical);
      CHECK(chi_square(0.1) > 100);  // another law is told apart
    }
}

TEST_CASE("Gaussian actions have the mean and the deviation that the parameters say", "[policies][control]") {
  const std::int64_t draws = 100'000;
  const double mean[] = {0.3, -2}, log_sd[] = {-0.4, 0.9}, start = 0.5;
  for (const Deviation deviation : {Deviation::constant, Deviation::state})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const bool state = deviation == Deviation::state;
      Case which = gaussian(2, deviation, start);
      if (!state) which.constants = {-0.4F, 0.9F};
      which = repeated(std::move(which), draws,
                       state ? std::vector<float>{0.3F, -2, -0.4F, 0.9F} : std::vector<float>{0.3F, -2});
      const std::vector<float> drawn = draws_of(which, {.seed = seed}, 0, 0, 0, draws);
      const auto n = static_cast<double>(draws);
      double product = 0;
      for (std::size_t a = 0; a < 2; ++a) {
        const double sd = start * std::exp(log_sd[a]);
        double sum = 0, square = 0;
        for (std::size_t i = a; i < drawn.size(); i += 2) {
          const double z = (double{drawn[i]} - mean[a]) / sd;
          sum += z, square += z * z;
        }
        CAPTURE(state, seed, a);
        CHECK(std::abs(sum / std::sqrt(n)) < critical_value);
        CHECK(std::abs((square - n) / std::sqrt(2 * n)) < critical_value);
        // The deviation without its start, as a mutant.
        CHECK(std::abs((square * start * start - n) / std::sqrt(2 * n)) > 10);
      }
      for (std::size_t i = 0; i < drawn.size(); i += 2)
        product += (double{drawn[i]} - mean[0]) * (double{drawn[i + 1]} - mean[1]);
      CHECK(std::abs(product / (start * start * std::exp(log_sd[0] + log_sd[1]) * std::sqrt(n))) < critical_value);
    }
}

TEST_CASE("a draw is keyed by its row and place, however rows are split into blocks", "[policies][control]") {
  std::vector<Case> cases = all_cases();
  for (Case& which : cases) {
    which.rows = 300;
    which.fill(1);
    const NoiseKey noise{.seed = 5, .step = 9};
    const std::int64_t act = which.law->actions();
    const std::vector<float> whole = draws_of(which, noise, 2, 6, 0, 300);
    std::vector<float> parts;
    std::int64_t begin = 0;
    for (const std::int64_t end : {1, 38, 39, 170, 300}) {
      const std::vector<float> part = draws_of(which, noise, 2, 6, begin, end);
      parts.insert(parts.end(), part.begin(), part.end());
      begin = end;
    }
    CAPTURE(which.choices, act);
    CHECK(parts == whole);
    CHECK(draws_of(which, noise, 3, 6, 0, 300) != whole);
    CHECK(draws_of(which, noise, 2, 7, 0, 300) != whole);
    // Rows that lie apart in memory are the same rows.
    std::vector<float> apart(static_cast<std::size_t>(300 * (act + 2)));
    which.law->draw(which.parameters(), noise, 2, 6, {apart.data(), 300, act, act + 2});
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t a = 0; a < act; ++a)
        REQUIRE(apart[static_cast<std::size_t>(i * (act + 2) + a)] == whole[static_cast<std::size_t>(i * act + a)]);
  }
}

TEST_CASE("a single row is drawn as it is among others, its outputs next to each other or apart",
          "[policies][control]") {
  std::vector<Case> cases = all_cases();
  for (Case& which : cases) {
    which.rows = 300;
    which.fill(1);
    for (float& number : which.outputs) number *= 20;  // log sd beyond their limits too
    const NoiseKey noise{.seed = 5, .step = 9};
    const std::int64_t act = which.law->actions(), outputs = which.law->outputs();
    const ActionDraw draw = which.law->row_draw();
    const std::vector<float> whole = draws_of(which, noise, 2, 6, 0, 300);
    std::vector<float> apart(static_cast<std::size_t>(outputs * 300));  // [outputs, rows]
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t k = 0; k < outputs; ++k)
        apart[static_cast<std::size_t>(k * 300 + i)] = which.outputs[static_cast<std::size_t>(i * outputs + k)];
    std::vector<float> row_by_row, column_by_column;
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t a = 0; a < act; ++a) {
        row_by_row.push_back(draw({which.outputs.data() + i * outputs}, which.constants.data(), noise, 2, 6 + i, a));
        column_by_column.push_back(draw({apart.data() + i, 300}, which.constants.data(), noise, 2, 6 + i, a));
      }
    CAPTURE(which.choices, act);
    CHECK(row_by_row == whole);
    CHECK(column_by_column == whole);
  }
}

TEST_CASE("a choice without a share is never drawn, not even by the largest random number", "[policies][control]") {
  const NoiseKey noise{.seed = 0};
  const std::int64_t largest = 29016846;  // the first index whose word has 24 leading ones
  REQUIRE(random_block(noise, 0, static_cast<std::uint32_t>(largest / 4))[largest % 4] >> 8 == 0xFFFFFF);
  const float nothing = -200;  // e^−200 is 0 among floats
  for (const std::vector<float>& logits :
       {std::vector<float>{0, 0, nothing}, std::vector<float>{0, nothing, nothing}, std::vector<float>{nothing, 0, 0},
        std::vector<float>{0.1F, 0.2F, -std::numeric_limits<float>::infinity()}}) {
    const Case which = repeated(categorical(3), 1, logits);
    const float choice = draws_of(which, noise, 0, largest, 0, 1).front();
    CHECK(logits.at(static_cast<std::size_t>(choice)) > nothing);
  }
}

TEST_CASE("the mode is the choice with the largest output, or the mean", "[policies][control]") {
  const Case choice{.law = make_categorical(3), .rows = 2, .outputs = {0, 2, 1, 5, -1, 4.9F}};
  std::vector<float> actions(2);
  choice.law->mode(choice.parameters(), {actions.data(), 2, 1});
  CHECK(actions == std::vector<float>{1, 0});
  const Case number{.law = make_gaussian(1, Deviation::state, 1), .rows = 2, .outputs = {0.5F, 9, -3, -9}};
  number.law->mode(number.parameters(), {actions.data(), 2, 1});
  CHECK(actions == std::vector<float>{0.5F, -3});
}

TEST_CASE("the deviation of actions is the mean of their standard deviations, and 0 for choices",
          "[policies][control]") {
  const float logs[2]{std::log(0.5F), std::log(2.0F)}, means[4]{1, 2, 3, 4};
  const auto constant = make_gaussian(2, Deviation::constant, 3);
  CHECK(constant->mean_deviation({{means, 2, 2}, logs}) == Approx(3 * (0.5 + 2) / 2));
  const float outputs[4]{7, std::log(0.1F), 8, std::log(0.3F)};  // mean and log sd of one action in two rows
  CHECK(make_gaussian(1, Deviation::state, 1)->mean_deviation({{outputs, 2, 2}, {}}) == Approx(0.2));
  CHECK(make_categorical(2)->mean_deviation({{means, 2, 2}, {}}) == 0);
}

TEST_CASE("distributions that cannot be are refused", "[policies][control]") {
  CHECK_ERROR(make_categorical(1), usage, "at least 2 choices", "got 1");
  CHECK_ERROR(make_gaussian(0, Deviation::constant, 1), usage, "at least 1 action", "got 0");
  CHECK_ERROR(make_gaussian(1, Deviation::state, 0), usage, "positive deviation", "got 0");
  CHECK_ERROR(make_gaussian(1, Deviation::constant, -1), usage, "positive deviation", "got -1");
}

namespace {

/// Numbers of all rows, [n, F].
std::vector<float> behaviour_of(const Case& which, const std::vector<float>& scale) {
  std::vector<float> points(scale.size());
  const std::int64_t size = which.law->behaviour_size();
  which.law->behaviour(which.parameters(), {scale.data(), which.rows, size}, {points.data(), which.rows, size});
  return points;
}

std::vector<float> scale_of(const Case& which, const std::vector<ActionDistribution::Parameters>& all) {
  const std::int64_t size = which.law->behaviour_size();
  std::vector<float> scale(static_cast<std::size_t>(which.rows * size));
  which.law->behaviour_scale(all, {scale.data(), which.rows, size});
  return scale;
}

/// KL(π ‖ ρ) in nats, summed over rows, from numbers in double precision.
double divergence(const Case& pi, const Case& rho) {
  const std::int64_t k = pi.law->outputs(), a = pi.law->actions();
  double sum = 0;
  for (std::int64_t i = 0; i < pi.rows; ++i) {
    const float *own = pi.outputs.data() + i * k, *other = rho.outputs.data() + i * k;
    if (pi.choices > 0) {
      double total = 0, of_other = 0;
      for (std::int64_t c = 0; c < k; ++c) total += std::exp(double{own[c]}), of_other += std::exp(double{other[c]});
      for (std::int64_t c = 0; c < k; ++c)
        sum += std::exp(double{own[c]}) / total *
               (double{own[c]} - std::log(total) - double{other[c]} + std::log(of_other));
      continue;
    }
    for (std::int64_t n = 0; n < a; ++n) {
      const auto at = static_cast<std::size_t>(n);
      const double start = std::log(pi.initial_deviation),
                   log_sd = start + double{pi.constants.empty() ? own[a + n] : pi.constants[at]},
                   log_other = start + double{rho.constants.empty() ? other[a + n] : rho.constants[at]},
                   difference = (double{own[n]} - double{other[n]}) / std::exp(log_other);
      sum += log_other - log_sd + 0.5 * (std::exp(2 * (log_sd - log_other)) + difference * difference - 1);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the squared distance of two behaviours is the KL divergence both ways, to second order",
          "[policies][control]") {
  std::vector<Case> cases = all_cases(), others = all_cases();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    Case &which = cases[c], &near = others[c];
    which.fill(1), near.fill(2);
    // A step of a fiftieth towards other parameters: what is left out is a share of some 1e-4.
    for (std::size_t q = 0; q < near.outputs.size(); ++q)
      near.outputs[q] = which.outputs[q] + 0.02F * (near.outputs[q] - which.outputs[q]);
    for (std::size_t q = 0; q < near.constants.size(); ++q)
      near.constants[q] = which.constants[q] + 0.02F * (near.constants[q] - which.constants[q]);
    const std::vector<float> scale = scale_of(which, {which.parameters(), near.parameters()}),
                             first = behaviour_of(which, scale), second = behaviour_of(near, scale);
    double square = 0;
    for (std::size_t q = 0; q < first.size(); ++q) square += std::pow(double{first[q]} - double{second[q]}, 2);
    CAPTURE(which.choices, which.law->actions(), which.law->constants());
    CHECK(square == Approx(divergence(which, near) + divergence(near, which)).epsilon(2e-3));
    CHECK(square > 1e-6);
  }
}

TEST_CASE("slopes by behaviours are carried to outputs and constants", "[policies][control]") {
  std::vector<Case> cases = all_cases(), others = all_cases();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    Case &which = cases[c], &moved = others[c];
    which.fill(1), moved.fill(2);
    const ActionDistribution& law = *which.law;
    const std::int64_t size = law.behaviour_size();
    const std::vector<float> scale = scale_of(which, {which.parameters(), moved.parameters()}),
                             first = behaviour_of(which, scale), second = behaviour_of(moved, scale);
    std::vector<float> slopes(scale.size()), gradient(which.outputs.size()), by_constants(which.constants.size(), 1);
    fill_normal(std::span<float>(slopes), {.seed = 3}, 0);
    law.behaviour_gradient(which.parameters(), {scale.data(), which.rows, size}, {slopes.data(), which.rows, size},
                           {gradient.data(), which.rows, law.outputs()}, by_constants);
    // Behaviours are linear in the parameters, log sd being inside their limits.
    double risen = 0, expected = 0;
    for (std::size_t q = 0; q < slopes.size(); ++q) risen += double{slopes[q]} * (double{second[q]} - double{first[q]});
    for (std::size_t q = 0; q < gradient.size(); ++q)
      expected += double{gradient[q]} * (double{moved.outputs[q]} - double{which.outputs[q]});
    for (std::size_t q = 0; q < by_constants.size(); ++q)  // that were 1 before
      expected += (double{by_constants[q]} - 1) * (double{moved.constants[q]} - double{which.constants[q]});
    CAPTURE(which.choices, law.actions(), law.constants());
    CHECK(risen == Approx(expected).epsilon(1e-4));
  }
}

TEST_CASE("logits that differ by one number are one behaviour", "[policies][control]") {
  Case which = categorical(3), shifted = categorical(3);
  which.fill(1), shifted.fill(1);
  for (float& logit : shifted.outputs) logit += 2;
  const std::vector<float> scale = scale_of(which, {which.parameters(), shifted.parameters()}),
                           first = behaviour_of(which, scale), second = behaviour_of(shifted, scale);
  for (std::size_t q = 0; q < first.size(); ++q) CHECK(second[q] == Approx(first[q]).margin(1e-6));
}
