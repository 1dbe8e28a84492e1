// A sketch that keeps the contract honest, not part of the library: the no-U-turn sampler (Hoffman & Gelman 2014,
// algorithm 3) asks a `Target<double>` for as many values and gradients as its trees need.
#include <stein/inference/sampler.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::inference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

class GaussianTarget final : public Target<double> {
 public:
  GaussianTarget(VectorXd mean, MatrixXd precision) : mean_(std::move(mean)), precision_(std::move(precision)) {
    layout_.add("position", {mean_.size()}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>&, const NoiseKey&,
                MatrixView<double> gradient, std::span<double> value) override {
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
      const VectorXd distance = Eigen::Map<const VectorXd>(coordinates.values.row(i).data(), mean_.size()) - mean_;
      Eigen::Map<VectorXd>(gradient.row(i).data(), mean_.size()) = -precision_ * distance;
      if (!value.empty()) value[i] = -distance.dot(precision_ * distance) / 2;
    }
  }

 private:
  VectorXd mean_;
  MatrixXd precision_;
  Layout layout_;
};

class Nuts final : public Sampler<double> {
 public:
  Nuts(double step_size, std::uint64_t seed) : step_size_(step_size), seed_(seed) {}

  StepReport step(Particles<double>& particles, Target<double>& target, const Batch<double>& batch) override {
    StepReport report{.accepted = false};
    for (std::int64_t i = 0; i < particles.rows(); ++i) {
      const auto row = static_cast<std::uint32_t>(particles.first_row() + i);
      Chain chain{target, batch,      {seed_, steps_, Stream::sampler},
                  row,    step_size_, Draws({seed_, steps_, Stream::sampler}, row)};
      const Eigen::Map<VectorXd> position(particles.values().row(i).data(), particles.size());
      const VectorXd before = position;
      Eigen::Map<VectorXd>(particles.values().row(i).data(), particles.size()) = chain.draw(before, report.divergent);
      report.accepted = report.accepted || before != position;
    }
    if (report.accepted)
      target.adapt(particles.coordinates(), batch, {seed_, steps_, Stream::sampler}, particles.buffers(),
                   adaptation_weight(static_cast<std::int64_t>(steps_)));
    ++steps_;
    return report;
  }
  std::string_view name() const override { return "nuts"; }
  void scale_step_size(double factor) override { step_size_ *= factor; }
  void save(Snapshot& snapshot) const override { snapshot.put("steps", steps_); }
  void restore(const Snapshot& snapshot) override { steps_ = snapshot.get_scalar<std::uint64_t>("steps"); }

 private:
  struct Point {
    VectorXd position, momentum, gradient;
    double log_density = 0;
    double log_joint() const { return log_density - momentum.squaredNorm() / 2; }
  };
  struct Tree {
    Point first, last;
    VectorXd proposal;
    double count = 0;
    bool grows = true;
  };
  struct Chain {
    Target<double>& target;
    const Batch<double>& batch;
    NoiseKey noise;
    std::uint32_t row;
    double step_size;
    Draws draws;
    bool divergent = false;

    void evaluate(Point& point) {
      point.gradient.resize(point.position.size());
      target.evaluate({{point.position.data(), 1, point.position.size()}, row}, batch, noise,
                      {point.gradient.data(), 1, point.position.size()}, {&point.log_density, 1});
    }
    Point leapfrog(Point point, double step) {
      point.momentum += step / 2 * point.gradient;
      point.position += step * point.momentum;
      evaluate(point);
      point.momentum += step / 2 * point.gradient;
      return point;
    }
    static bool turns_back(const Tree& tree) {
      const VectorXd across = tree.last.position - tree.first.position;
      return across.dot(tree.first.momentum) < 0 || across.dot(tree.last.momentum) < 0;
    }
    Tree build(const Point& from, double log_slice, double direction, int depth) {
      if (depth == 0) {
        const Point point = leapfrog(from, direction * step_size);
        divergent = divergent || point.log_joint() < log_slice - 1000;
        return {point, point, point.position, log_slice <= point.log_joint() ? 1.0 : 0.0,
                log_slice < point.log_joint() + 1000};
      }
      Tree tree = build(from, log_slice, direction, depth - 1);
      if (tree.grows)
        join(tree, build(direction > 0 ? tree.last : tree.first, log_slice, direction, depth - 1), direction, false);
      return tree;
    }
    /// Adds a subtree at one end; `progressive` takes its proposal with probability n'/n, else n'/(n + n').
    void join(Tree& tree, const Tree& other, double direction, bool progressive) {
      const double chance = other.count / std::max(progressive ? tree.count : tree.count + other.count, 1.0);
      if ((!progressive || other.grows) && draws.uniform() < chance) tree.proposal = other.proposal;
      (direction > 0 ? tree.last : tree.first) = direction > 0 ? other.last : other.first;
      tree.count += other.count;
      tree.grows = other.grows && !turns_back(tree);
    }
    VectorXd draw(const VectorXd& start, bool& any_divergent) {
      Point point{start, VectorXd::NullaryExpr(start.size(), [&] { return draws.normal(); }), {}, 0};
      evaluate(point);
      const double log_slice = point.log_joint() + std::log(draws.uniform());
      Tree tree{point, point, start, 1, true};
      for (int depth = 0; depth < 10 && tree.grows; ++depth) {
        const double direction = draws.uniform() < 0.5 ? -1 : 1;
        const Tree other = build(direction > 0 ? tree.last : tree.first, log_slice, direction, depth);
        join(tree, other, direction, true);
      }
      any_divergent = any_divergent || divergent;
      return tree.proposal;
    }
  };

  double step_size_;
  std::uint64_t seed_, steps_ = 0;
};

}  // namespace

TEST_CASE("a NUTS written against Target leaves a correlated Gaussian invariant", "[inference][contract]") {
  // Chains start in the target, so every statistic has its exact mean at any length; z from 64 independent chains.
  constexpr std::int64_t chains = 64;
  const VectorXd mean{{1, -2, 0.5}};
  MatrixXd covariance{{2, 0.9, 0}, {0.9, 1, -0.3}, {0, -0.3, 0.25}};
  const MatrixXd root = covariance.llt().matrixL();
  GaussianTarget target(mean, covariance.inverse());
  Particles<double> particles(target.layout(), chains);
  Draws draws({.seed = 3, .stream = Stream::test}, 0);
  for (std::int64_t i = 0; i < chains; ++i)
    Eigen::Map<VectorXd>(particles.values().row(i).data(), 3) =
        mean + root * VectorXd::NullaryExpr(3, [&] { return draws.normal(); });

  Nuts sampler(0.35, 17);
  MatrixXd sums = MatrixXd::Zero(9, chains);  // first moments, squares, products of each chain
  constexpr int steps = 150;
  bool divergent = false, moved = false;
  for (int step = 0; step < steps; ++step) {
    const StepReport report = sampler.step(particles, target, {});
    divergent = divergent || report.divergent;
    moved = moved || report.accepted;
    for (std::int64_t i = 0; i < chains; ++i) {
      const VectorXd x = Eigen::Map<const VectorXd>(particles.values().row(i).data(), 3) - mean;
      sums.col(i) +=
          VectorXd{{x(0), x(1), x(2), x(0) * x(0), x(1) * x(1), x(2) * x(2), x(0) * x(1), x(0) * x(2), x(1) * x(2)}} /
          steps;
    }
  }
  CHECK(moved);
  CHECK(!divergent);
  const VectorXd law{{0, 0, 0, 2, 1, 0.25, 0.9, 0, -0.3}};
  const VectorXd found = sums.rowwise().mean();
  for (int k = 0; k < 9; ++k) {
    const double variance = (sums.row(k).array() - found(k)).square().sum() / (chains - 1) / chains;
    CHECK(std::abs(found(k) - law(k)) / std::sqrt(variance) < 6.1);
    CHECK(std::sqrt(variance) < 0.1);  // the chains mix: the test can see something
  }
}
