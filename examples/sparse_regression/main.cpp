// One cell of the sparse regressions of Deng et al. 2019 as a JSON object on standard output:
//   example_sparse_regression [linear|logistic] [sa|em|fixed] [V0] [SIGMA] [SEED] [STEPS]
// Half of the steps are burn-in; every tenth of the others is a sample. A chain that leaves the finite numbers says so
// ("diverged") and is no failure of the program.
#include <stein/core/error.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sparse_regression.h"

using namespace sparse_regression;
using stein::inference::SlabAdaptation;

namespace {

SlabAdaptation method_of(const std::string& name) {
  if (name == "sa") return SlabAdaptation::stochastic_approximation;
  if (name == "em") return SlabAdaptation::expectation_maximisation;
  STEIN_CHECK(name == "fixed", "unknown method '{}', expected sa, em or fixed", name);
  return SlabAdaptation::fixed;
}

std::string list_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%s%.4f", text.empty() ? "" : ", ", number);
    text += digits;
  }
  return "[" + text + "]";
}

std::string list_of(const std::vector<std::vector<double>>& rows) {
  std::string text;
  for (const std::vector<double>& row : rows) text += (text.empty() ? "" : ", ") + list_of(row);
  return "[" + text + "]";
}

int print(const Cell& cell) {
  try {
    const Outcome o = run(cell);
    std::printf(
        "{\"mae\": %.6g, \"mse\": %.6g, \"sample_mae\": %.6g, \"sample_mse\": %.6g, \"ideal_mae\": %.6g, "
        "\"ideal_mse\": %.6g, \"first_weights\": %s, \"sigma\": %.6g, \"slab_share\": %.6g, \"truth\": %s, "
        "\"quantiles\": %s, \"predicted\": %s, \"responses\": %s, \"fitted\": %s, \"learned\": %s}\n",
        o.mean_absolute, o.mean_square, o.sample_absolute, o.sample_square, o.ideal_absolute, o.ideal_square,
        list_of(o.first_weights).c_str(), o.sigma, o.slab_share, list_of(o.truth).c_str(), list_of(o.quantiles).c_str(),
        list_of(o.predicted).c_str(), list_of(o.responses).c_str(), list_of(o.fitted).c_str(),
        list_of(o.learned).c_str());
  } catch (const stein::Error& error) {
    if (error.kind() != stein::ErrorKind::numeric) throw;
    std::printf("{\"diverged\": \"%s\"}\n", error.what());
  }
  return 0;
}

}  // namespace

int main(int count, char** words) try {
  const auto word = [&](int i, const char* otherwise) { return std::string(i < count ? words[i] : otherwise); };
  const std::string task = word(1, "linear");
  STEIN_CHECK(task == "linear" || task == "logistic", "unknown task '{}', expected linear or logistic", task);
  const std::int64_t steps = std::strtoll(word(6, "2000").c_str(), nullptr, 10);
  STEIN_CHECK(steps >= 2, "expected at least 2 steps, got {}", word(6, "2000"));
  return print({.task = task == "linear" ? Task::linear : Task::logistic,
                .method = method_of(word(2, "sa")),
                .laplace_scale = std::strtod(word(3, "0.1").c_str(), nullptr),
                .sigma = std::strtod(word(4, "1").c_str(), nullptr),
                .seed = std::strtoull(word(5, "0").c_str(), nullptr, 10),
                .steps = steps,
                .burn_in = steps / 2});
} catch (const std::exception& error) {
  std::fprintf(stderr, "example_sparse_regression: %s\n", error.what());
  return 2;
}
