// The running average of squared gradients that preconditioned samplers divide by.
#pragma once

#include <stein/core/error.h>
#include <stein/core/options.h>

namespace stein::inference {

/// Which gradient is squared.
enum class SquareOf {
  joint,  ///< f̃, ∇ of the full log joint: a step is about as long whatever N is
  mean,   ///< f̃/N: the same step size moves a weight further with N
};

/// How long g² is remembered, and what is added to its root.
struct AveragedSquareOptions {
  double decay = 0.99;
  double epsilon = 1e-8;
  SquareOf square_of = SquareOf::joint;
  std::int64_t warm_up = 0;

  template <class V>
  void describe(V& v) {
    v("square_decay", decay, "decay of the averaged squared gradient", Range{.low = 0, .high = 1, .high_open = true});
    v("preconditioner_epsilon", epsilon, "λ, added to the root of the averaged square", positive);
    v("square_of", square_of, "average the square of ∇ of the full log joint, or of that divided by N",
      {{"joint", SquareOf::joint}, {"mean", SquareOf::mean}});
    v("preconditioner_warm_up", warm_up,
      "first updates, which move nothing and average the squared gradients with equal weights", at_least(0), "updates");
  }

  bool warming_up(std::int64_t t) const { return t < warm_up; }
  /// The decay of update t = 0, 1, …; in the warm-up the one that makes the average a plain mean.
  double decay_at(std::int64_t t) const {
    return warming_up(t) ? static_cast<double>(t) / static_cast<double>(t + 1) : decay;
  }
  /// What the gradient is multiplied with before it is squared. Throws Error(usage) if that needs an N that the batch
  /// does not say.
  double gradient_scale(double data_size) const {
    if (square_of == SquareOf::joint) return 1;
    STEIN_CHECK(data_size > 0, "square_of=mean needs a batch that says N > 0, got N = {}", data_size);
    return 1 / data_size;
  }
};

}  // namespace stein::inference
