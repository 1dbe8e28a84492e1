#include <stein/core/error.h>
#include <stein/policies/action_distribution.h>
#include <stein/policies/action_score.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using inference::MatrixView;

class Categorical final : public ActionDistribution {
 public:
  explicit Categorical(std::int64_t choices) : choices_(choices) {
    STEIN_CHECK(choices >= 2, "categorical policy: expected at least 2 choices, got {}", choices);
  }
  std::int64_t outputs() const override { return choices_; }
  std::int64_t constants() const override { return 0; }
  std::int64_t actions() const override { return 1; }

  void draw(const Parameters& parameters, const NoiseKey& noise, std::uint32_t row, std::int64_t first,
            MatrixView<float> actions) const override {
    PhiloxBlock words{};
    for (std::int64_t i = 0; i < actions.rows; ++i) {
      const auto index = static_cast<std::uint64_t>(first + i);
      if (i == 0 || index % 4 == 0) words = random_block(noise, row, static_cast<std::uint32_t>(index / 4));
      const StridedNumbers logits{parameters.outputs.row(i).data()};
      actions(i, 0) = static_cast<float>(draw_choice(logits, choices_, words[index % 4]));
    }
  }

  ActionDraw row_draw() const override { return {.choices = choices_}; }

  void mode(const Parameters& parameters, MatrixView<float> actions) const override {
    for (std::int64_t i = 0; i < actions.rows; ++i) {
      const auto logits = parameters.outputs.row(i);
      actions(i, 0) = static_cast<float>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
  }

  void log_density(const Parameters& parameters, MatrixView<const float> actions,
                   std::span<float> values) const override {
    for (std::int64_t i = 0; i < actions.rows; ++i)
      values[static_cast<std::size_t>(i)] =
          choice_log_density({parameters.outputs.row(i).data()}, choices_, static_cast<std::int64_t>(actions(i, 0)));
  }

  void gradient(const Parameters& parameters, MatrixView<const float> actions, std::span<const float> weights,
                std::span<const float> entropy, MatrixView<float> gradient, std::span<float>) const override {
    for (std::int64_t i = 0; i < actions.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      choice_gradient({parameters.outputs.row(i).data()}, choices_, static_cast<std::int64_t>(actions(i, 0)),
                      weights[at], entropy[at], gradient.row(i).data());
    }
  }

  double mean_entropy(const Parameters& parameters) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < parameters.outputs.rows; ++i) {
      const auto logits = parameters.outputs.row(i);
      const double top = *std::max_element(logits.begin(), logits.end());
      double total = 0, weighted = 0;
      for (const float logit : logits) {
        const double share = std::exp(double{logit} - top);
        total += share, weighted += share * (double{logit} - top);
      }
      sum += std::log(total) - weighted / total;
    }
    return sum / static_cast<double>(parameters.outputs.rows);
  }

  std::int64_t behaviour_size() const override { return choices_; }

  void behaviour_scale(std::span<const Parameters> all, MatrixView<float> scale) const override {
    for (std::int64_t i = 0; i < scale.rows; ++i) {
      const auto middle = scale.row(i);
      std::ranges::fill(middle, 0.0F);
      for (const Parameters& each : all) {
        const auto logits = each.outputs.row(i);
        const float top = *std::max_element(logits.begin(), logits.end());
        float total = 0;
        for (const float logit : logits) total += std::exp(logit - top);
        for (std::size_t k = 0; k < logits.size(); ++k) middle[k] += std::exp(logits[k] - top) / total;
      }
      for (float& share : middle) share = std::sqrt(share / static_cast<float>(all.size()));
    }
  }

  void behaviour(const Parameters& parameters, MatrixView<const float> scale, MatrixView<float> points) const override {
    for (std::int64_t i = 0; i < points.rows; ++i) {
      const auto logits = parameters.outputs.row(i), root = scale.row(i);
      float mean = 0;
      for (std::size_t k = 0; k < logits.size(); ++k) mean += root[k] * root[k] * logits[k];
      for (std::size_t k = 0; k < logits.size(); ++k) points.row(i)[k] = root[k] * (logits[k] - mean);
    }
  }

  // ∂ point_k/∂ l_m = √p̄_k ([k = m] − p̄_m).
  void behaviour_gradient(const Parameters&, MatrixView<const float> scale, MatrixView<const float> slopes,
                          MatrixView<float> gradient, std::span<float>) const override {
    for (std::int64_t i = 0; i < slopes.rows; ++i) {
      const auto slope = slopes.row(i), root = scale.row(i);
      float along = 0;
      for (std::size_t k = 0; k < slope.size(); ++k) along += root[k] * slope[k];
      for (std::size_t k = 0; k < slope.size(); ++k) gradient.row(i)[k] = root[k] * (slope[k] - root[k] * along);
    }
  }

 private:
  std::int64_t choices_;
};

class Gaussian final : public ActionDistribution {
 public:
  Gaussian(std::int64_t actions, Deviation deviation, double initial_deviation)
      : actions_(actions), deviation_(deviation), start_(static_cast<float>(std::log(initial_deviation))) {
    STEIN_CHECK(actions >= 1, "Gaussian policy: expected at least 1 action, got {}", actions);
    STEIN_CHECK(initial_deviation > 0, "Gaussian policy: expected a positive deviation, got {}", initial_deviation);
  }
  std::int64_t outputs() const override { return deviation_ == Deviation::state ? 2 * actions_ : actions_; }
  std::int64_t constants() const override { return deviation_ == Deviation::constant ? actions_ : 0; }
  std::int64_t actions() const override { return actions_; }

  void draw(const Parameters& parameters, const NoiseKey& noise, std::uint32_t row, std::int64_t first,
            MatrixView<float> actions) const override {
    if (actions.stride == actions_) {
      fill_normal(std::span<float>(actions.data, static_cast<std::size_t>(actions.rows * actions_)), noise, row,
                  static_cast<std::uint64_t>(first * actions_));
    } else {
      for (std::int64_t i = 0; i < actions.rows; ++i)
        fill_normal(actions.row(i), noise, row, static_cast<std::uint64_t>((first + i) * actions_));
    }
    for (std::int64_t a = 0; a < actions_; ++a) {
      const float shared = constants() > 0 ? std::exp(log_deviation(parameters, 0, a)) : 0;
      for (std::int64_t i = 0; i < actions.rows; ++i) {
        const float deviation = constants() > 0 ? shared : std::exp(log_deviation(parameters, i, a));
        actions(i, a) = parameters.outputs(i, a) + deviation * actions(i, a);
      }
    }
  }

  ActionDraw row_draw() const override {
    return {.actions = actions_, .deviation_moves = deviation_ == Deviation::state, .start = start_};
  }

  void mode(const Parameters& parameters, MatrixView<float> actions) const override {
    for (std::int64_t i = 0; i < actions.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a) actions(i, a) = parameters.outputs(i, a);
  }

  void log_density(const Parameters& parameters, MatrixView<const float> actions,
                   std::span<float> values) const override {
    std::fill(values.begin(), values.end(), 0.0F);
    for (std::int64_t i = 0; i < actions.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a)
        values[static_cast<std::size_t>(i)] -=
            normal_surprise(actions(i, a), parameters.outputs(i, a), log_deviation(parameters, i, a));
  }

  void gradient(const Parameters& parameters, MatrixView<const float> actions, std::span<const float> weights,
                std::span<const float> entropy, MatrixView<float> gradient,
                std::span<float> constant_gradient) const override {
    for (std::int64_t a = 0; a < actions_; ++a) {
      const float shared = constants() > 0 ? std::exp(-log_deviation(parameters, 0, a)) : 0;
      const auto slope_of = [&](std::int64_t i) {
        const auto s = static_cast<std::size_t>(i);
        const float inverse = constants() > 0 ? shared : std::exp(-log_deviation(parameters, i, a));
        const NormalSlopes slopes =
            normal_slopes(actions(i, a), parameters.outputs(i, a), inverse, weights[s], entropy[s]);
        gradient(i, a) = slopes.mean;
        return slopes.log_sd;
      };
      carry_to_deviation(parameters, a, slope_of, gradient, constant_gradient);
    }
  }

  double mean_entropy(const Parameters& parameters) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < parameters.outputs.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a)
        sum += double{log_deviation(parameters, i, a)} + double{half_log_two_pi} + 0.5;
    return sum / static_cast<double>(parameters.outputs.rows);
  }

  double mean_deviation(const Parameters& parameters) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < parameters.outputs.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a) sum += std::exp(double{log_deviation(parameters, i, a)});
    return sum / static_cast<double>(parameters.outputs.rows * actions_);
  }

  std::int64_t behaviour_size() const override { return 2 * actions_; }

  void behaviour_scale(std::span<const Parameters> all, MatrixView<float> scale) const override {
    for (std::int64_t i = 0; i < scale.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a) {
        float sum = 0;
        for (const Parameters& each : all) sum += log_deviation(each, i, a);
        scale(i, a) = std::exp(-sum / static_cast<float>(all.size()));
        scale(i, actions_ + a) = root_two;
      }
  }

  void behaviour(const Parameters& parameters, MatrixView<const float> scale, MatrixView<float> points) const override {
    for (std::int64_t i = 0; i < points.rows; ++i)
      for (std::int64_t a = 0; a < actions_; ++a) {
        points(i, a) = scale(i, a) * parameters.outputs(i, a);
        points(i, actions_ + a) = scale(i, actions_ + a) * log_deviation(parameters, i, a);
      }
  }

  void behaviour_gradient(const Parameters& parameters, MatrixView<const float> scale, MatrixView<const float> slopes,
                          MatrixView<float> gradient, std::span<float> constant_gradient) const override {
    for (std::int64_t a = 0; a < actions_; ++a) {
      const auto slope_of = [&](std::int64_t i) {
        gradient(i, a) = scale(i, a) * slopes(i, a);
        return scale(i, actions_ + a) * slopes(i, actions_ + a);
      };
      carry_to_deviation(parameters, a, slope_of, gradient, constant_gradient);
    }
  }

 private:
  static constexpr float root_two = 1.41421356237309504880F;

  float log_deviation(const Parameters& parameters, std::int64_t i, std::int64_t a) const {
    const float own =
        constants() > 0 ? parameters.constants[static_cast<std::size_t>(a)] : parameters.outputs(i, actions_ + a);
    return bounded_log_deviation(own, start_);
  }
  /// Carries the slopes by log σ of action `a` to what it is made of, an output of every row or one constant.
  /// @param slope_of  row ↦ slope; called once for every row, in their order
  template <class SlopeOf>
  void carry_to_deviation(const Parameters& parameters, std::int64_t a, const SlopeOf& slope_of,
                          MatrixView<float> gradient, std::span<float> constant_gradient) const {
    double sum = 0;
    for (std::int64_t i = 0; i < gradient.rows; ++i) {
      const float slope = slope_of(i);
      if (constants() > 0)
        sum += double{slope};
      else
        gradient(i, actions_ + a) = inward_slope(parameters.outputs(i, actions_ + a), start_, slope);
    }
    if (constants() == 0) return;
    const auto k = static_cast<std::size_t>(a);
    constant_gradient[k] += inward_slope(parameters.constants[k], start_, static_cast<float>(sum));
  }

  std::int64_t actions_;
  Deviation deviation_;
  float start_;
};

}  // namespace

std::unique_ptr<ActionDistribution> make_categorical(std::int64_t choices) {
  return std::make_unique<Categorical>(choices);
}

std::unique_ptr<ActionDistribution> make_gaussian(std::int64_t actions, Deviation deviation, double initial_deviation) {
  return std::make_unique<Gaussian>(actions, deviation, initial_deviation);
}

}  // namespace stein::policies
