// Values, gradients and states for one step of every dynamics of stochastic-gradient MCMC.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/particles.h>
#include <stein/inference/samplers/diffusion.h>

#include <cmath>
#include <vector>

namespace stein::test {

inline const std::vector<inference::Dynamics> every_dynamics{inference::Dynamics::sgld,
                                                             inference::Dynamics::psgld,
                                                             inference::Dynamics::sghmc,
                                                             inference::Dynamics::sgnht,
                                                             inference::Dynamics::sgnht_rest,
                                                             inference::Dynamics::sgnht_scalar,
                                                             inference::Dynamics::santa_euler,
                                                             inference::Dynamics::santa_splitting,
                                                             inference::Dynamics::santa_refinement,
                                                             inference::Dynamics::santa_splitting_refinement,
                                                             inference::Dynamics::santa_half_move};

/// The readable loops.
inline const inference::Driver<float>& reference_driver() {
  return inference::driver<float>(inference::Ensemble{.arithmetic = inference::Arithmetic::reference});
}

/// One parameter of `size` numbers.
inline inference::Layout flat(std::int64_t size) {
  inference::Layout layout;
  layout.add("position", {size}, inference::Role::weight);
  return layout;
}

/// Values, gradients and three states, random; averaged squares are not negative.
template <class Scalar>
struct DiffusionRows {
  inference::Particles<Scalar> particles, first, second, third;
  std::vector<Scalar> thermostats;
  std::vector<double> squares;

  DiffusionRows(const inference::Layout& layout, std::int64_t rows, std::int64_t first_row)
      : particles(layout, rows, first_row, 100),
        first(particles),
        second(particles),
        third(particles),
        thermostats(static_cast<std::size_t>(rows)),
        squares(static_cast<std::size_t>(rows)) {
    for (std::int64_t i = 0; i < rows; ++i) {
      thermostats[static_cast<std::size_t>(i)] = static_cast<Scalar>(0.5 + 0.25 * static_cast<double>(i));
      for (std::int64_t q = 0; q < layout.size(); ++q) {
        const auto at = [&](std::uint64_t sheet) {
          return normal_at<float>({.seed = 5, .step = sheet}, static_cast<std::uint32_t>(i),
                                  static_cast<std::uint64_t>(q));
        };
        particles.values()(i, q) = at(0);
        particles.gradients()(i, q) = at(1);
        first.values()(i, q) = std::abs(at(2)) + 0.1f;
        second.values()(i, q) = std::abs(at(3));
        third.values()(i, q) = at(4);
      }
    }
  }

  inference::DiffusionStep<Scalar> step(inference::Dynamics dynamics, std::uint64_t t) {
    inference::DiffusionStep<Scalar> step{.dynamics = dynamics,
                                          .numbers = {.drift = 0.01,
                                                      .noise = 0.05,
                                                      .keep = 0.9,
                                                      .step = 0.1,
                                                      .temperature = 0.7,
                                                      .metric_correction = 1e-4,
                                                      .square_decay = 0.9,
                                                      .gradient_scale = 0.5,
                                                      .epsilon = 1e-3},
                                          .values = particles.values(),
                                          .gradients = particles.gradients(),
                                          .noise = {.seed = 11, .step = t, .stream = Stream::sampler},
                                          .first_row = particles.first_row()};
    step.states = {first.values(), second.values(), third.values()};
    if (dynamics == inference::Dynamics::sgnht_scalar) step.thermostats = thermostats;
    return step;
  }
  std::vector<Scalar> everything() const {
    std::vector<Scalar> numbers;
    for (const inference::Particles<Scalar>* part : {&particles, &first, &second, &third})
      for (std::int64_t i = 0; i < part->rows(); ++i)
        numbers.insert(numbers.end(), part->values().row(i).begin(), part->values().row(i).end());
    return numbers;
  }
};

}  // namespace stein::test
