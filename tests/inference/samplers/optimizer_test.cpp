// Momentum SGD, RMSprop and Adam against their formulas written out, clipping, and the schedule.
#include <stein/inference/samplers/optimizer.h>

#include <cmath>

#include "core/error_matcher.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// A straight slope: the gradient is the same everywhere.
class Slope final : public Target<double> {
 public:
  explicit Slope(std::vector<double> slope) : slope_(std::move(slope)) {
    layout_.add("x", {static_cast<std::int64_t>(slope_.size())}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& rows, const Batch<double>&, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const MatrixView<double> gradient = wanted.gradient;
    for (std::int64_t i = 0; i < rows.values.rows; ++i)
      std::copy(slope_.begin(), slope_.end(), gradient.row(i).begin());
  }

 private:
  Layout layout_;
  std::vector<double> slope_;
};

/// Where coordinate 0 of one particle stands after each of two steps.
std::vector<double> walk(const OptimizerOptions& options, std::vector<double> slope) {
  Slope target(std::move(slope));
  Particles<double> particles(target.layout(), 1);
  Optimizer<double> optimizer(options, particles.ensemble(0));
  std::vector<double> places;
  for (int t = 0; t < 2; ++t) {
    optimizer.step(particles, target, {});
    places.push_back(particles.values()(0, 0));
  }
  return places;
}

}  // namespace

TEST_CASE("momentum SGD adds up what it has gathered", "[inference][optimizer]") {
  const auto x = walk({.method = OptimizerMethod::sgd, .step = {.step_size = 0.1}, .momentum = 0.5}, {2});
  CHECK(x[0] == Approx(0.2));              // m = 2
  CHECK(x[1] == Approx(0.2 + 0.1 * 3.0));  // m = 0.5·2 + 2
}

TEST_CASE("RMSprop divides by the root of the averaged square", "[inference][optimizer]") {
  const auto x =
      walk({.method = OptimizerMethod::rmsprop, .step = {.step_size = 0.1}, .square_decay = 0.9, .epsilon = 1e-3}, {2});
  const double first = 0.1 * 2 / (std::sqrt(0.1 * 4) + 1e-3), second = 0.1 * 2 / (std::sqrt(0.9 * 0.4 + 0.4) + 1e-3);
  CHECK(x[0] == Approx(first));
  CHECK(x[1] == Approx(first + second));
}

TEST_CASE("Adam's corrected steps on a slope are the step size each", "[inference][optimizer]") {
  const auto x = walk({.method = OptimizerMethod::adam, .step = {.step_size = 0.1}, .epsilon = 1e-12}, {-7});
  CHECK(x[0] == Approx(-0.1));
  CHECK(x[1] == Approx(-0.2));
}

TEST_CASE("a direction longer than the limit is scaled down to it, a shorter one is left alone",
          "[inference][optimizer]") {
  const OptimizerOptions options{
      .method = OptimizerMethod::sgd, .step = {.step_size = 1}, .momentum = 0, .clip = {.clip_norm = 5}};
  CHECK(walk(options, {30, 40})[0] == Approx(3));  // norm 50 → 5
  CHECK(walk(options, {3, 3.9})[0] == Approx(3));  // norm 4.92
}

TEST_CASE("a direction whose square overflows is scaled down, not to nothing", "[inference][optimizer]") {
  std::vector<float> narrow{3e19f, -4e19f};
  reference::clip_rows(MatrixView<float>(narrow.data(), 1, 2), {.clip_norm = 5});
  CHECK(narrow[0] == Approx(3));
  CHECK(narrow[1] == Approx(-4));
  std::vector<double> wide{3e300, -4e300};
  reference::clip_rows(MatrixView<double>(wide.data(), 1, 2), {.clip_norm = 5});
  CHECK(wide[0] == Approx(3));
  CHECK(wide[1] == Approx(-4));
}

TEST_CASE("an option out of its range is refused where the optimizer is made", "[inference][optimizer]") {
  CHECK_ERROR(Optimizer<float>({.step = {.step_size = 0}}, ensemble_of(1, 1, 0)), usage, "'step_size'");
  CHECK_ERROR(Optimizer<float>({.momentum = 1}, ensemble_of(1, 1, 0)), usage, "'momentum'");
}

TEST_CASE("rescaling gives every gradient the same length, but a zero one", "[inference][optimizer]") {
  const GradientClipOptions rescale{.clip_norm = 5, .clip_rule = ClipRule::rescale};
  std::vector<double> rows{0.3, 0.4, 0, 0};
  reference::clip_rows(MatrixView<double>(rows.data(), 2, 2), rescale);
  CHECK(rows == std::vector<double>{3, 4, 0, 0});
}

TEST_CASE("after its half-life the step size is half", "[inference][optimizer]") {
  const auto x =
      walk({.method = OptimizerMethod::sgd, .step = {.step_size = 1, .step_decay_steps = 1}, .momentum = 0}, {1});
  CHECK(x[0] == Approx(1));
  CHECK(x[1] == Approx(1.5));
}
