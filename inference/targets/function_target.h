// A user's own log density as a target.
#pragma once

#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/core/rng.h>
#include <stein/inference/target.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stein::inference {

/// A name for `size` coordinates that follow one another.
struct Variable {
  std::string name;
  std::int64_t size = 1;
};

/// How a function may be called.
enum class Calls {
  one_by_one,  ///< never before the last call is over
  concurrent,  ///< from several threads at the same time: it changes nothing that another call reads
};

/// A target of a function of one row, for densities that no network is behind:
///
/// @code
///   FunctionTarget<double> banana({{"x"}, {"y"}}, [](std::span<const double> at, std::span<double> gradient) {
///     const double bend = at[1] - at[0] * at[0];
///     gradient[0] = 2 * bend * at[0] - at[0] / 4;
///     gradient[1] = -bend;
///     return -bend * bend / 2 - at[0] * at[0] / 8;
///   });
/// @endcode
///
/// Rows are asked for one after the other, unless the function says that it may be called at the same time. The batch
/// is not looked at.
template <class Scalar>
class FunctionTarget final : public Target<Scalar> {
 public:
  /// Writes the gradient at `at` [Q] over `gradient` [Q] and returns the log density there, up to a constant.
  using LogDensity = std::function<double(std::span<const Scalar> at, std::span<Scalar> gradient)>;

  /// Throws Error(usage) without a function or variables, or for a name that is given twice.
  FunctionTarget(const std::vector<Variable>& variables, LogDensity log_density, Calls calls = Calls::one_by_one)
      : log_density_(std::move(log_density)), calls_(calls) {
    STEIN_CHECK(log_density_ != nullptr, "target: expected a function that gives the log density");
    STEIN_CHECK(!variables.empty(), "target: expected at least one variable");
    for (const auto& [name, size] : variables) layout_.add(name, {size}, Role::bias);
  }

  const Layout& layout() const override { return layout_; }
  bool concurrent() const override { return calls_ == Calls::concurrent; }

  /// Starting points, uniform in (−radius, radius) as Stan draws them.
  Particles<Scalar> initial_particles(std::int64_t rows, std::uint64_t seed, double radius = 2) const {
    Particles<Scalar> particles(layout_, rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      Draws draws({.seed = seed, .stream = Stream::initial_values}, static_cast<std::uint32_t>(i));
      for (Scalar& x : particles.values().row(i)) x = static_cast<Scalar>(draws.uniform(-radius, radius));
    }
    return particles;
  }

  /// @throws Error(numeric) naming the row whose density is not finite, where the sampler asks for gradients alone and
  ///         would not see it
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey&,
                const Evaluation<Scalar>& wanted) override {
    this->check_shapes(coordinates, batch, wanted);
    const auto evaluate_row = [&](std::int64_t i) {
      std::vector<Scalar> unwanted(wanted.wants_gradient() ? 0 : static_cast<std::size_t>(layout_.size()));
      const std::span<Scalar> gradient = wanted.wants_gradient() ? wanted.gradient.row(i) : std::span<Scalar>(unwanted);
      const double density = log_density_(coordinates.values.row(i), gradient);
      if (wanted.wants_value())
        wanted.value[static_cast<std::size_t>(i)] = density;
      else if (!std::isfinite(density))
        fail(ErrorKind::numeric, "the log density of particle {} is {}, expected a finite number",
             coordinates.first_row + i, density);
    };
    if (concurrent())
      parallel_for(coordinates.values.rows, evaluate_row);
    else
      for (std::int64_t i = 0; i < coordinates.values.rows; ++i) evaluate_row(i);
  }

 private:
  LogDensity log_density_;
  Calls calls_;
  Layout layout_;
};

}  // namespace stein::inference
