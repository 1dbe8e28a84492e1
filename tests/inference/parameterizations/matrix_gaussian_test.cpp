// The structured parameterization W = P Λ₁ C Λ₂ Qᵀ: its algebra, its gradients, its law.
#include <stein/core/error.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/direct.h>

#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <unsupported/Eigen/KroneckerProduct>

#include "inference/matrix_gaussian_case.h"

using namespace stein;
using namespace stein::inference;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST_CASE("the coordinates of a structured network are laid out as documented", "[inference][matrix_gaussian]") {
  const Layout weights = mlp_layout({.inputs = 5, .hidden = {3}, .outputs = 1, .learn_noise_precision = true}, 4);
  const MatrixGaussianLayout layout = matrix_gaussian_layout(weights, {.reflectors = 4, .scales = Scales::free});
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> found;
  for (const LayoutEntry& entry : layout.coordinates.entries()) found.emplace_back(entry.name, entry.shape);
  CHECK(found == std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"layer0.weight", {5, 3}},
                                                                                {"layer0.log_scale_left", {5}},
                                                                                {"layer0.log_scale_right", {3}},
                                                                                {"layer0.reflectors_left", {4, 5}},
                                                                                {"layer0.reflectors_right", {3, 3}},
                                                                                {"layer0.bias", {3}},
                                                                                {"layer1.weight", {3, 1}},
                                                                                {"layer1.log_scale_left", {3}},
                                                                                {"layer1.log_scale_right", {1}},
                                                                                {"layer1.reflectors_left", {3, 3}},
                                                                                {"layer1.bias", {1}},
                                                                                {"log_noise_precision", {1}}});
  CHECK(!layout.coordinates.padded());
  CHECK_THROWS_WITH(matrix_gaussian_layout(weights, {.reflectors = -1}),
                    "option 'reflectors' must be in [0, 4096], got -1");
  CHECK_THROWS_WITH(matrix_gaussian_layout(weights, {.reflectors = 4097}),
                    "option 'reflectors' must be in [0, 4096], got 4097");
}

TEST_CASE("without reflectors and with identity scales the coordinates are the weights bit for bit",
          "[inference][matrix_gaussian]") {
  const Layout weights = mlp_layout({.inputs = 5, .hidden = {3, 6}, .outputs = 2}, 4);
  MatrixGaussianReference<double> structured(weights, {.reflectors = 0, .scales = Scales::identity});
  Direct<double> direct(weights);
  const auto& ours = structured.coordinates().entries();
  const auto& plain = direct.coordinates().entries();
  REQUIRE(ours.size() == plain.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CHECK(ours[i].name == plain[i].name);
    CHECK(ours[i].shape == plain[i].shape);
    CHECK(ours[i].role == plain[i].role);
    CHECK(ours[i].offset == plain[i].offset);
    CHECK(ours[i].row_stride == plain[i].row_stride);
  }
  Particles<double> particles(structured.coordinates(), 3), others(direct.coordinates(), 3);
  structured.initialise(particles, 5, 1.0);
  direct.initialise(others, 5, 1.0);
  CHECK(forward(structured, particles) == forward(direct, others));
}

TEST_CASE("P and Q are orthogonal to 1e-12 and the products of their reflections, for any K",
          "[inference][matrix_gaussian]") {
  const auto [k, n] = GENERATE(table<int, int>({{1, 2}, {3, 7}, {8, 50}, {17, 17}, {16, 117}}));
  const MatrixXd reflectors = normals(k, n, 1);
  const MatrixXd identity = MatrixXd::Identity(n, n);
  for (const MatrixXd& p : {applied_left(reflectors), applied_right(reflectors)}) {
    CHECK((p * p.transpose() - identity).cwiseAbs().maxCoeff() < 1e-12);
    CHECK((p - orthogonal(reflectors)).cwiseAbs().maxCoeff() < 1e-12);
    CHECK(p.determinant() == Approx(k % 2 == 0 ? 1.0 : -1.0));
  }
}

TEST_CASE("the map does not depend on the lengths or signs of the reflectors", "[inference][matrix_gaussian]") {
  const MatrixXd reflectors = normals(5, 9, 2);
  MatrixXd scaled = reflectors;
  const double factors[] = {1e-3, -7, 1e4, -1, 0.5};
  for (int k = 0; k < 5; ++k) scaled.row(k) *= factors[k];
  CHECK((applied_left(reflectors) - applied_left(scaled)).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((applied_right(reflectors) - applied_right(scaled)).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("K = d reflections recover any orthogonal matrix of determinant (-1)^d", "[inference][matrix_gaussian]") {
  // Householder's own QR: v_k = x − ‖x‖ e_k sends column k of H_{k−1} … H_1 O to e_k, so H_d … H_1 O = I and
  // O = H_1 … H_d. After d − 1 steps the last diagonal entry is det O (−1)^{d−1} = −1, and v_d = e_d flips it.
  const int d = GENERATE(2, 3, 8, 21);
  MatrixXd target = Eigen::HouseholderQR<MatrixXd>(normals(d, d, 3)).householderQ();
  if (target.determinant() * (d % 2 == 0 ? 1 : -1) < 0) target.col(0) *= -1;
  MatrixXd rest = target, reflectors = MatrixXd::Zero(d, d);
  for (int k = 0; k < d; ++k) {
    VectorXd v = VectorXd::Zero(d);
    v.tail(d - k) = rest.col(k).tail(d - k);
    v(k) -= 1;
    reflectors.row(k) = v.transpose();
    rest -= 2 * v * (v.transpose() * rest) / v.squaredNorm();
  }
  CHECK((applied_left(reflectors) - target).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((applied_right(reflectors) - target).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("an even number of equal reflectors is no reflector at all", "[inference][matrix_gaussian]") {
  const MatrixXd one = normals(1, 6, 4);
  CHECK((applied_left(one.replicate(4, 1)) - MatrixXd::Identity(6, 6)).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((applied_left(one.replicate(5, 1)) - orthogonal(one)).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("weights are P diag(exp) C diag(exp) Q^T of their own particle, padding zero",
          "[inference][matrix_gaussian]") {
  const Scales scales = GENERATE(Scales::free, Scales::identity);
  const std::int64_t k = GENERATE(0, 2, 9), row_stride = GENERATE(4, 8);
  MatrixGaussianReference<double> map(single_matrix(7, 4, row_stride), {.reflectors = k, .scales = scales});
  Particles<double> particles = random_particles(map, 3);
  const std::vector<double> weights = forward(map, particles);
  for (std::int64_t m = 0; m < 3; ++m) {
    const auto part = [&](const char* name, const MatrixXd& absent) {
      return map.coordinates().find(name) == nullptr ? absent : copy(particles.view(name, m));
    };
    const MatrixXd left = orthogonal(part("layer0.reflectors_left", MatrixXd::Zero(0, 7)));
    const MatrixXd right = orthogonal(part("layer0.reflectors_right", MatrixXd::Zero(0, 4)));
    const VectorXd scale_left = part("layer0.log_scale_left", MatrixXd::Zero(1, 7)).transpose().array().exp();
    const VectorXd scale_right = part("layer0.log_scale_right", MatrixXd::Zero(1, 4)).transpose().array().exp();
    const MatrixXd expected = left * scale_left.asDiagonal() * copy(particles.view("layer0.weight", m)) *
                              scale_right.asDiagonal() * right.transpose();
    for (std::int64_t i = 0; i < 7; ++i)
      for (std::int64_t j = 0; j < row_stride; ++j) {
        const double found = weights[(m * 7 + i) * row_stride + j];
        if (j < 4) CHECK(found == Approx(expected(i, j)).margin(1e-13));
        if (j >= 4) CHECK(found == 0);
      }
  }
}

TEST_CASE("the pullback is the transpose of the map's derivative at every coordinate", "[inference][matrix_gaussian]") {
  // d/dφ Σ G ∘ W(φ) by central differences, step 1e-5: error about 1e-9 of the largest entry.
  const Scales scales = GENERATE(Scales::free, Scales::identity);
  const std::int64_t k = GENERATE(0, 1, 3, 8), lanes = GENERATE(1, 4);
  const Layout weights = mlp_layout({.inputs = 6, .hidden = {5}, .outputs = 1, .learn_noise_precision = true}, lanes);
  MatrixGaussianReference<double> map(weights, {.reflectors = k, .scales = scales});
  Particles<double> particles = random_particles(map, 2);
  const MatrixXd slopes = normals(weights.size(), 2, 6);  // column m: G of particle m; nonzero in the padding too
  const auto functional = [&] {
    const std::vector<double> theta = forward(map, particles);
    return VectorXd(
        (Eigen::Map<const MatrixXd>(theta.data(), weights.size(), 2).array() * slopes.array()).colwise().sum());
  };
  const auto trace = map.make_trace();
  MatrixXd mapped(weights.size(), 2);
  map.forward(particles.coordinates(), {}, {mapped.data(), 2, weights.size()}, *trace);
  map.pullback(particles.coordinates(), {}, {slopes.data(), 2, weights.size()}, particles.gradients(), *trace);
  VectorXd worst = VectorXd::Zero(2), largest = VectorXd::Zero(2);
  for (std::int64_t i = 0; i < particles.size(); ++i) {
    constexpr double step = 1e-5;
    const auto moved = [&](double by) {
      for (std::int64_t m = 0; m < 2; ++m) particles.values()(m, i) += by;
      const VectorXd value = functional();
      for (std::int64_t m = 0; m < 2; ++m) particles.values()(m, i) -= by;
      return value;
    };
    const VectorXd difference = (moved(step) - moved(-step)) / (2 * step);
    for (int m = 0; m < 2; ++m) {
      worst(m) = std::max(worst(m), std::abs(difference(m) - particles.gradients()(m, i)));
      largest(m) = std::max(largest(m), std::abs(difference(m)));
    }
  }
  CHECK(worst(0) < 1e-8 * largest(0));
  CHECK(worst(1) < 1e-8 * largest(1));
}

TEST_CASE("every trace goes back the way that its own forward came", "[inference][matrix_gaussian]") {
  MatrixGaussianReference<double> map(single_matrix(6, 5), {.reflectors = 2});
  Particles<double> particles = random_particles(map, 4);
  const MatrixXd slopes = normals(30, 4, 7);
  const MatrixView<const double> gradient{slopes.data(), 4, 30};
  MatrixXd weights(30, 4);
  const MatrixView<double> rows{weights.data(), 4, 30};
  const auto whole = map.make_trace(), part = map.make_trace();
  map.forward(particles.coordinates(), {}, rows, *whole);
  for (std::int64_t m = 0; m < 4; ++m) {
    map.forward(particles.coordinates().block(m, 1), {}, rows.block(m, 1), *part);
    map.pullback(particles.coordinates().block(m, 1), {}, gradient.block(m, 1), particles.gradients().block(m, 1),
                 *part);
  }
  const MatrixXd one_by_one = copy(particles.gradients());
  map.pullback(particles.coordinates(), {}, gradient, particles.gradients(), *whole);
  CHECK((copy(particles.gradients()) - one_by_one).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("turning any one reflector changes the weights", "[inference][matrix_gaussian]") {
  MatrixGaussianReference<double> map(single_matrix(9, 7), {.reflectors = 5});
  Particles<double> particles = random_particles(map, 1);
  const std::vector<double> before = forward(map, particles);
  for (const char* name : {"layer0.reflectors_left", "layer0.reflectors_right"})
    for (std::int64_t k = 0; k < 5; ++k) {
      double& number = particles.view(name, 0)(k, k);
      const double kept = std::exchange(number, number + 1);
      const std::vector<double> after = forward(map, particles);
      number = kept;
      double change = 0;
      for (std::size_t i = 0; i < before.size(); ++i) change = std::max(change, std::abs(after[i] - before[i]));
      CHECK(change > 0.01);
    }
}

TEST_CASE("initial weight matrices are independent normals of variance spread squared over inputs",
          "[inference][matrix_gaussian]") {
  MatrixGaussianReference<double> map(single_matrix(8, 5), {.reflectors = 3});
  Particles<double> particles(map.coordinates(), 4000);
  map.initialise(particles, 21, 1.5);
  const std::vector<double> weights = forward(map, particles);
  // Σ w² / (spread²/8) is χ² with 160,000 degrees of freedom: z = (Σ − n)/√(2n).
  double sum = 0;
  for (const double weight : weights) sum += weight * weight;
  const auto n = static_cast<double>(weights.size());
  CHECK(std::abs((sum / (1.5 * 1.5 / 8) - n) / std::sqrt(2 * n)) < 6.1);
  for (const char* name : {"layer0.log_scale_left", "layer0.log_scale_right"})
    CHECK(copy(particles.view(name, 3)).isZero(0));
  CHECK(particles.view("layer0.reflectors_left", 0)(0, 0) != particles.view("layer0.reflectors_left", 0)(1, 0));
}

TEST_CASE("W has the covariance V ⊗ U of a matrix-variate Gaussian", "[inference][matrix_gaussian]") {
  // Shared reflectors and scales, C of unit normals. For each pair (a, b) of entries of vec W the mean of n products
  // has mean Σ_ab and variance (Σ_aa Σ_bb + Σ_ab²)/n; 78 pairs and 12 means, false alarm 1e-8 each: |z| < 5.8.
  constexpr std::int64_t p = 4, d = 3, n = 40'000;
  MatrixGaussianReference<double> map(single_matrix(p, d), {.reflectors = 2});
  Particles<double> particles(map.coordinates(), n);
  map.initialise(particles, 31, std::sqrt(static_cast<double>(p)));
  const MatrixXd left = normals(2, p, 8), right = normals(2, d, 9);
  const VectorXd scale_left{{0.5, -0.3, 0.2, 0.0}}, scale_right{{-0.6, 0.4, 0.1}};
  for (std::int64_t i = 0; i < n; ++i) {
    assign(particles.view("layer0.reflectors_left", i), left);
    assign(particles.view("layer0.reflectors_right", i), right);
    assign(particles.view("layer0.log_scale_left", i), scale_left.transpose());
    assign(particles.view("layer0.log_scale_right", i), scale_right.transpose());
  }
  const std::vector<double> weights = forward(map, particles);  // rows of W one after the other: vec of Wᵀ
  const Eigen::Map<const MatrixXd> samples(weights.data(), p * d, n);
  const MatrixXd found = samples * samples.transpose() / static_cast<double>(n);

  const MatrixXd u =
      orthogonal(left) * (2 * scale_left).array().exp().matrix().asDiagonal() * orthogonal(left).transpose();
  const MatrixXd v =
      orthogonal(right) * (2 * scale_right).array().exp().matrix().asDiagonal() * orthogonal(right).transpose();
  const auto largest_z = [&](const MatrixXd& law) {
    double largest = 0;
    for (Eigen::Index a = 0; a < p * d; ++a)
      for (Eigen::Index b = 0; b <= a; ++b) {
        const double variance = (law(a, a) * law(b, b) + law(a, b) * law(a, b)) / static_cast<double>(n);
        largest = std::max(largest, std::abs(found(a, b) - law(a, b)) / std::sqrt(variance));
      }
    return largest;
  };
  // vec(Wᵀ) swaps the factors of vec(W) ~ N(0, V ⊗ U).
  const MatrixXd law = Eigen::kroneckerProduct(u, v);
  CHECK(largest_z(law) < 5.8);
  const VectorXd mean = samples.rowwise().mean();
  CHECK((mean.array() / (law.diagonal().array() / static_cast<double>(n)).sqrt()).abs().maxCoeff() < 5.8);
  // Mutants: no reflections, Λ in place of Λ².
  const VectorXd twice_left = 2 * scale_left, twice_right = 2 * scale_right;
  const MatrixXd unrotated = Eigen::kroneckerProduct(MatrixXd(twice_left.array().exp().matrix().asDiagonal()),
                                                     MatrixXd(twice_right.array().exp().matrix().asDiagonal()));
  CHECK(largest_z(unrotated) > 10);
  const MatrixXd unsquared = Eigen::kroneckerProduct(
      MatrixXd(orthogonal(left) * scale_left.array().exp().matrix().asDiagonal() * orthogonal(left).transpose()), v);
  CHECK(largest_z(unsquared) > 10);
}
