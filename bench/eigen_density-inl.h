// The log density of EigenPosterior as a user of Eigen writes it for speed: every expression is evaluated once, and a
// block of rows stays in the first-level cache between X w and Xᵀ r. Included by one source file an instruction set,
// compiled with its flags, which gives the namespace Eigen a name of its own: the linker keeps one of several functions
// that have the same name, whatever they were compiled for.
#include <stein/bench/eigen_posterior.h>

#include <Eigen/Core>

namespace stein::bench {
namespace {

constexpr Eigen::Index block_rows = 128;

struct EigenViews {
  Eigen::Map<const Eigen::MatrixXd> inputs;
  Eigen::Map<const Eigen::ArrayXd> signs;
  Eigen::Map<Eigen::ArrayXd> odds;
  Eigen::Map<Eigen::VectorXd> rest;

  explicit EigenViews(const EigenRows& data)
      : inputs(data.inputs, data.rows, data.columns),
        signs(data.signs, data.rows),
        odds(data.odds, data.rows),
        rest(data.rest, data.rows) {}
};

/// With u = η for an answer 0 and −η for an answer 1, a row adds −log(1 + eᵘ) to the density and ∓ eᵘ/(1 + eᵘ) to ∂/∂η.
/// Beyond u = 700, where eᵘ would overflow, log(1 + eᵘ) is u.
double log_density(const EigenRows& data, const double* weights, double* slope) {
  EigenViews views(data);
  const Eigen::Map<const Eigen::VectorXd> w(weights, data.columns);
  Eigen::Map<Eigen::VectorXd> gradient(slope, data.columns);
  gradient = -w;
  double value = -0.5 * w.squaredNorm();
  for (Eigen::Index first = 0; first < data.rows; first += block_rows) {
    const Eigen::Index left = data.rows - first, count = left < block_rows ? left : block_rows;
    const auto inputs = views.inputs.middleRows(first, count);
    const auto signs = views.signs.segment(first, count);
    auto odds = views.odds.segment(first, count);
    auto rest = views.rest.segment(first, count);
    rest.noalias() = inputs * w;
    rest.array() *= signs;
    odds = rest.array().min(700).exp();
    value -= ((1 + odds).log() + (rest.array() - 700).max(0)).sum();
    rest.array() = -signs * odds / (1 + odds);
    gradient.noalias() += inputs.transpose() * rest;
  }
  return value;
}

void products(const EigenRows& data, const double* weights, double* slope) {
  EigenViews views(data);
  views.rest.noalias() = views.inputs * Eigen::Map<const Eigen::VectorXd>(weights, data.columns);
  Eigen::Map<Eigen::VectorXd>(slope, data.columns).noalias() = views.inputs.transpose() * views.rest;
}

}  // namespace
}  // namespace stein::bench
