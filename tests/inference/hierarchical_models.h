// Neal's funnel and the eight schools, each in the centred form that samplers fail on and in the non-centred one, and
// the exact posterior of the schools.
#pragma once

#include <stein/inference/targets/function_target.h>

#include <array>
#include <numbers>

namespace stein::inference {

enum class Form { centred, non_centred };

/// v ~ N(0, 9), x_i ~ N(0, e^v) for nine x_i (Neal 2003, section 8); non-centred v = 3 a, x_i = e^{v/2} b_i.
inline FunctionTarget<double> funnel(Form form) {
  const std::vector<Variable> variables{{"v"}, {"x", 9}};
  if (form == Form::non_centred)
    return {variables, [](std::span<const double> at, std::span<double> gradient) {
              double density = 0;
              for (std::size_t i = 0; i < at.size(); ++i) gradient[i] = -at[i], density -= at[i] * at[i] / 2;
              return density;
            }};
  return {variables, [](std::span<const double> at, std::span<double> gradient) {
            const double v = at[0], precision = std::exp(-v);
            double squares = 0;
            for (std::size_t i = 1; i < at.size(); ++i) gradient[i] = -precision * at[i], squares += at[i] * at[i];
            gradient[0] = -v / 9 + precision * squares / 2 - 4.5;
            return -v * v / 18 - precision * squares / 2 - 4.5 * v;
          }};
}

/// Rubin 1981: the effects of coaching in eight schools, and their standard errors.
struct EightSchools {
  static constexpr std::array<double, 8> effect{28, 8, -3, 7, -1, 1, 18, 12};
  static constexpr std::array<double, 8> error{15, 10, 16, 11, 9, 11, 10, 18};

  double mean = 0, mean_square = 0;            ///< of μ
  double deviation = 0, deviation_square = 0;  ///< of τ
  double first_school = 0;                     ///< of θ₁

  /// μ ~ N(0, 5²), τ ~ half-Cauchy(0, 5), θ_j ~ N(μ, τ²), y_j ~ N(θ_j, σ_j²), as in posteriordb. In the coordinates μ,
  /// log τ and θ_j, or η_j = (θ_j − μ)/τ.
  static FunctionTarget<double> target(Form form) {
    return {{{"mu"}, {"log_tau"}, {form == Form::centred ? "theta" : "eta", 8}},
            [form](std::span<const double> at, std::span<double> gradient) {
              const double mu = at[0], tau = std::exp(at[1]);
              double density = -mu * mu / 50 - std::log1p(tau * tau / 25) + at[1];
              gradient[0] = -mu / 25;
              gradient[1] = 1 - 2 * tau * tau / (25 + tau * tau);
              for (std::size_t j = 0; j < 8; ++j) {
                const double x = at[2 + j], eta = form == Form::centred ? (x - mu) / tau : x;
                const double off = effect[j] - (form == Form::centred ? x : mu + tau * eta);
                const double pull = off / (error[j] * error[j]);  // ∂/∂θ_j of log p(y_j | θ_j)
                density -= off * pull / 2 + eta * eta / 2;
                if (form == Form::centred) {
                  density -= at[1];
                  gradient[2 + j] = pull - eta / tau;
                  gradient[0] += eta / tau;
                  gradient[1] += eta * eta - 1;
                } else {
                  gradient[2 + j] = tau * pull - eta;
                  gradient[0] += pull;
                  gradient[1] += tau * eta * pull;
                }
              }
              return density;
            }};
  }

  /// The posterior means by quadrature. Given τ all is Gaussian: y_j ~ N(μ, σ_j² + τ²), so μ has precision
  /// 1/25 + Σ w_j and mean Σ w_j y_j over it, w_j = 1/(σ_j² + τ²), and θ_j mixes y_j and μ. What is left is one
  /// integral over log τ, smooth and with light ends: the trapezoidal rule converges faster than any power.
  static EightSchools exact() {
    EightSchools sums;
    double total = 0;
    for (double log_tau = -25; log_tau < 12; log_tau += 1.0 / 128) {
      const double tau = std::exp(log_tau);
      double precision = 1.0 / 25, weighted = 0, log_weight = log_tau - std::log1p(tau * tau / 25);
      for (std::size_t j = 0; j < 8; ++j) {
        const double w = 1 / (error[j] * error[j] + tau * tau);
        precision += w, weighted += w * effect[j];
        log_weight += std::log(w) / 2 - w * effect[j] * effect[j] / 2;
      }
      const double mu = weighted / precision;
      const double weight = std::exp(log_weight - std::log(precision) / 2 + weighted * mu / 2);
      const double share = tau * tau / (error[0] * error[0] + tau * tau);
      total += weight;
      sums.mean += weight * mu;
      sums.mean_square += weight * (mu * mu + 1 / precision);
      sums.deviation += weight * tau;
      sums.deviation_square += weight * tau * tau;
      sums.first_school += weight * (share * effect[0] + (1 - share) * mu);
    }
    for (double* sum : {&sums.mean, &sums.mean_square, &sums.deviation, &sums.deviation_square, &sums.first_school})
      *sum /= total;
    return sums;
  }
};

}  // namespace stein::inference
