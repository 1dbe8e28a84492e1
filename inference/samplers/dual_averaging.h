// The step size that gives a wanted acceptance: Nesterov's dual averaging as in Hoffman & Gelman 2014, section 3.2.
#pragma once

#include <cmath>

namespace stein::inference {

/// log ε_t = μ − √t/γ · H̄_t;  H̄ averages (wanted − seen) with weight 1/(t + t₀);  the final log ε averages log ε_t with
/// weights t^−κ. γ = 0.05, t₀ = 10, κ = 0.75 and μ = log 10ε₀, as in Stan.
class DualAveraging {
 public:
  /// Starts at `step_size`, which is pulled towards ten times that.
  void restart(double step_size) {
    log_centre_ = std::log(10 * step_size);
    count_ = shortfall_ = log_average_ = 0;
  }
  /// As if every step size so far had been `factor` times what it was.
  void scale(double factor) {
    log_centre_ += std::log(factor);
    if (count_ > 0) log_average_ += std::log(factor);
  }
  /// The step size to try next, after one that was accepted with this probability.
  double update(double acceptance, double wanted) {
    ++count_;
    const double weight = 1 / (count_ + 10);
    shortfall_ = (1 - weight) * shortfall_ + weight * (wanted - acceptance);
    const double log_step = log_centre_ - shortfall_ * std::sqrt(count_) / 0.05;
    const double forget = std::pow(count_, -0.75);
    log_average_ = (1 - forget) * log_average_ + forget * log_step;
    return std::exp(log_step);
  }
  /// The step size to keep.
  double average() const { return std::exp(log_average_); }

  /// Its four numbers, for checkpoints.
  template <class Visit>
  void visit(const Visit& visit) {
    visit(log_centre_), visit(count_), visit(shortfall_), visit(log_average_);
  }

 private:
  double log_centre_ = 0, count_ = 0, shortfall_ = 0, log_average_ = 0;
};

}  // namespace stein::inference
