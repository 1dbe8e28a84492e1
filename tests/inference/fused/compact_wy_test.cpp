// The SIMD parameterization W = P Λ₁ C Λ₂ Qᵀ against a reference in double that reflects one vector after the other.
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

using Numbers = std::vector<double>;

/// A matrix and how it is reflected, in double.
struct ReferenceMatrix {
  std::int64_t p, d;
  std::map<std::string, Numbers> parts;

  const Numbers& part(const std::string& name) const { return parts.at(name); }
  bool has(const std::string& name) const { return parts.contains(name); }
};

/// w ← H w for H = I − 2vvᵀ/‖v‖² acting on rows (`left`) or columns of w [p, d].
void reflect(Numbers& w, std::int64_t p, std::int64_t d, const double* v, bool left) {
  const std::int64_t size = left ? p : d, other = left ? d : p;
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return left ? w[i * d + j] : w[j * d + i]; };
  double square = 0;
  for (std::int64_t i = 0; i < size; ++i) square += v[i] * v[i];
  for (std::int64_t j = 0; j < other; ++j) {
    double inner = 0;
    for (std::int64_t i = 0; i < size; ++i) inner += v[i] * at(i, j);
    for (std::int64_t i = 0; i < size; ++i) at(i, j) -= 2 * inner / square * v[i];
  }
}

/// One step of the map and what it was applied to, so that it can be undone for gradients.
struct Step {
  const double* reflector;
  double* slope;
  bool left;
  Numbers before;
};

/// The gradient through one reflection: g ← H g, and the slope of v from  W' = W − 2 v vᵀW/‖v‖².
void pull_reflection(Numbers& g, std::int64_t p, std::int64_t d, const Step& step) {
  const std::int64_t size = step.left ? p : d, other = step.left ? d : p;
  const auto index = [&](std::int64_t i, std::int64_t j) { return step.left ? i * d + j : j * d + i; };
  const double* const v = step.reflector;
  double square = 0;
  for (std::int64_t i = 0; i < size; ++i) square += v[i] * v[i];
  double inner_products = 0;
  for (std::int64_t j = 0; j < other; ++j) {
    double vw = 0, vg = 0;
    for (std::int64_t i = 0; i < size; ++i) vw += v[i] * step.before[index(i, j)], vg += v[i] * g[index(i, j)];
    for (std::int64_t i = 0; i < size; ++i)
      step.slope[i] -= 2 / square * (g[index(i, j)] * vw + step.before[index(i, j)] * vg);
    inner_products += vw * vg;
  }
  for (std::int64_t i = 0; i < size; ++i) step.slope[i] += 4 / (square * square) * inner_products * v[i];
  reflect(g, p, d, v, step.left);
}

/// W of the parts, and the gradients of Σ slope ∘ W with respect to them.
std::pair<Numbers, ReferenceMatrix> map_and_pull(const ReferenceMatrix& matrix, const Numbers& slope) {
  const std::int64_t p = matrix.p, d = matrix.d;
  ReferenceMatrix gradient = matrix;
  for (auto& [name, numbers] : gradient.parts) std::fill(numbers.begin(), numbers.end(), 0.0);
  const Numbers& core = matrix.part("core");
  Numbers scale(static_cast<std::size_t>(p * d), 1.0), w = core;
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = 0; j < d; ++j) {
      if (matrix.has("log_scale_left")) scale[i * d + j] *= std::exp(matrix.part("log_scale_left")[i]);
      if (matrix.has("log_scale_right")) scale[i * d + j] *= std::exp(matrix.part("log_scale_right")[j]);
      w[i * d + j] *= scale[i * d + j];
    }
  std::vector<Step> steps;
  for (const bool left : {true, false}) {
    const std::string name = left ? "reflectors_left" : "reflectors_right";
    if (!matrix.has(name)) continue;
    const std::int64_t size = left ? p : d;
    for (std::int64_t k = static_cast<std::int64_t>(matrix.part(name).size()) / size - 1; k >= 0; --k) {
      const double* const v = matrix.part(name).data() + k * size;
      steps.push_back({v, gradient.parts.at(name).data() + k * size, left, w});
      reflect(w, p, d, v, left);
    }
  }
  Numbers g = slope;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) pull_reflection(g, p, d, *step);
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = 0; j < d; ++j) {
      const double dc = g[i * d + j] * scale[i * d + j];
      gradient.parts.at("core")[i * d + j] = dc;
      if (matrix.has("log_scale_left")) gradient.parts.at("log_scale_left")[i] += dc * core[i * d + j];
      if (matrix.has("log_scale_right")) gradient.parts.at("log_scale_right")[j] += dc * core[i * d + j];
    }
  return {w, gradient};
}

/// The parts of the matrix `layerN.weight` of one row.
ReferenceMatrix reference_matrix(const Layout& layout, const float* row, const std::string& layer) {
  const LayoutEntry& core = layout.at(layer + "weight");
  ReferenceMatrix matrix{core.rows(), core.columns(), {}};
  for (const char* part : {"weight", "log_scale_left", "log_scale_right", "reflectors_left", "reflectors_right"})
    if (const LayoutEntry* entry = layout.find(layer + part))
      matrix.parts[part == std::string("weight") ? "core" : part] =
          Numbers(row + entry->offset, row + entry->offset + entry->size());
  return matrix;
}

double norm(const Numbers& numbers) {
  double square = 0;
  for (const double number : numbers) square += number * number;
  return std::sqrt(square);
}

/// ‖found − expected‖ / max(‖expected‖, least).
double relative_norm(const Numbers& found, const Numbers& expected, double least = 1e-30) {
  Numbers difference = found;
  for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
  return norm(difference) / std::max(norm(expected), least);
}

/// What the gradient of a log scale sums: C∘dC. A sum of few numbers may cancel, so its error is held to its terms.
Numbers scale_terms(const ReferenceMatrix& matrix, const ReferenceMatrix& gradient) {
  Numbers terms = matrix.part("core");
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= gradient.part("core")[i];
  return terms;
}

Layout single_matrix(std::int64_t p, std::int64_t d, std::int64_t row_stride) {
  Layout layout;
  layout.add("layer0.weight", {p, d}, Role::weight, 0, row_stride);
  return layout;
}

/// Coordinates that start like a sampler's, log scales of sd 0.4 included.
Particles<float> random_particles(MatrixGaussian& map, std::int64_t rows) {
  Particles<float> particles(map.coordinates(), rows);
  map.initialise(particles, 5, 1.5);
  for (const LayoutEntry& entry : map.coordinates().entries())
    if (entry.role == Role::log_scale || entry.role == Role::bias)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < entry.size(); ++j)
          particles.values()(i, entry.offset + j) =
              0.4f * normal_at<float>({.seed = 9}, static_cast<std::uint32_t>(i),
                                      static_cast<std::uint64_t>(entry.offset + j));
  return particles;
}

/// Weights of all rows, in memory that held other numbers before.
std::vector<float> forward(Parameterization<float>& map, const Particles<float>& particles) {
  const std::int64_t size = map.weights().size();
  std::vector<float> weights(static_cast<std::size_t>(particles.rows() * size), -1.0f);
  map.forward(particles.coordinates(), {}, {weights.data(), particles.rows(), size}, *map.make_trace());
  return weights;
}

std::vector<float> random_slopes(const Layout& weights, std::int64_t rows) {
  std::vector<float> slopes(static_cast<std::size_t>(rows * weights.size()));
  fill_normal(slopes, {.seed = 21}, 0);
  return slopes;
}

/// Gradients of all rows, after a forward of them.
std::vector<float> pull(Parameterization<float>& map, Particles<float>& particles, const std::vector<float>& slopes) {
  std::vector<float> weights(slopes.size());
  const auto trace = map.make_trace();
  map.forward(particles.coordinates(), {}, {weights.data(), particles.rows(), map.weights().size()}, *trace);
  map.pullback(particles.coordinates(), {}, {slopes.data(), particles.rows(), map.weights().size()},
               particles.gradients(), *trace);
  std::vector<float> result;
  for (std::int64_t i = 0; i < particles.rows(); ++i)
    result.insert(result.end(), particles.gradients().row(i).begin(), particles.gradients().row(i).end());
  return result;
}

}  // namespace

TEST_CASE("weights and gradients agree with sequential reflections in double, for any shape, K and padding",
          "[inference][matrix_gaussian][parity]") {
  const auto [p, d] = GENERATE(table<int, int>(
      {{117, 50}, {50, 50}, {50, 2}, {1, 1}, {3, 17}, {50, 1}, {1, 9}, {2, 2}, {13, 8}, {5, 33}, {4, 7}}));
  const int k = GENERATE(0, 1, 3, 4, 8, 9, 20);
  const Scales scales = GENERATE(Scales::free, Scales::identity);
  for (const std::int64_t row_stride : {d, d + 1, (d + 7) / 8 * 8, (d + 15) / 16 * 16 + 16}) {
    CAPTURE(p, d, k, row_stride);
    MatrixGaussian map(single_matrix(p, d, row_stride), {.reflectors = k, .scales = scales});
    Particles<float> particles = random_particles(map, 2);
    const std::vector<float> weights = forward(map, particles);
    const std::vector<float> slopes = random_slopes(map.weights(), 2);
    pull(map, particles, slopes);
    for (std::int64_t m = 0; m < 2; ++m) {
      Numbers found, slope, padding;
      for (std::int64_t i = 0; i < p; ++i) {
        const std::int64_t begin = (m * p + i) * row_stride;
        found.insert(found.end(), weights.begin() + begin, weights.begin() + begin + d);
        slope.insert(slope.end(), slopes.begin() + begin, slopes.begin() + begin + d);
        padding.insert(padding.end(), weights.begin() + begin + d, weights.begin() + begin + row_stride);
      }
      const ReferenceMatrix matrix = reference_matrix(map.coordinates(), particles.values().row(m).data(), "layer0.");
      const auto [w, gradient] = map_and_pull(matrix, slope);
      CHECK(relative_norm(found, w) < 1e-5);
      CHECK(std::ranges::count(padding, 0.0) == static_cast<std::int64_t>(padding.size()));
      const ReferenceMatrix ours = reference_matrix(map.coordinates(), particles.gradients().row(m).data(), "layer0.");
      for (const auto& [name, expected] : gradient.parts) {
        CAPTURE(name);
        const double least = name.starts_with("log_scale") ? norm(scale_terms(matrix, gradient)) : 1e-30;
        // A turn in the plane is one number, what sums over all weights leave: five digits of them are not five of it.
        const bool plane = (name == "reflectors_left" && p == 2) || (name == "reflectors_right" && d == 2);
        CHECK(relative_norm(ours.part(name), expected, least) < (plane ? 1e-3 : 1e-5));
      }
    }
  }
}

TEST_CASE("the gradients of the reference are finite differences of its weights",
          "[inference][matrix_gaussian][parity]") {
  // Σ slope ∘ W by central differences, step 1e-6: error about 1e-9 of the largest entry.
  MatrixGaussian map(single_matrix(5, 4, 4), {.reflectors = 3});
  const Particles<float> particles = random_particles(map, 1);
  ReferenceMatrix matrix = reference_matrix(map.coordinates(), particles.values().row(0).data(), "layer0.");
  const std::vector<float> narrow = random_slopes(map.weights(), 1);
  const Numbers slope(narrow.begin(), narrow.end());
  const ReferenceMatrix gradient = map_and_pull(matrix, slope).second;
  const auto value = [&] {
    const Numbers w = map_and_pull(matrix, slope).first;
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * slope[i];
    return sum;
  };
  for (auto& [name, numbers] : matrix.parts) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      CAPTURE(name, i);
      const double at = numbers[i];
      numbers[i] = at + 1e-6;
      const double above = value();
      numbers[i] = at - 1e-6;
      const double below = value();
      numbers[i] = at;
      CHECK(gradient.part(name)[i] == Approx((above - below) / 2e-6).margin(1e-7));
    }
  }
}

TEST_CASE("SIMD weights do not depend on the lengths or signs of the reflectors", "[inference][matrix_gaussian]") {
  const auto [p, d] = GENERATE(table<int, int>({{117, 50}, {50, 2}, {3, 17}}));
  MatrixGaussian map(single_matrix(p, d, d), {.reflectors = 5});
  Particles<float> particles = random_particles(map, 1);
  const std::vector<float> before = forward(map, particles);
  const float factors[] = {1e-3f, -7, 1e4f, -1, 1e-12f};
  for (const char* name : {"layer0.reflectors_left", "layer0.reflectors_right"}) {
    const MatrixView<float> reflectors = particles.view(name, 0);
    for (std::int64_t k = 0; k < reflectors.rows; ++k)
      for (float& value : reflectors.row(k)) value *= factors[k];
  }
  const std::vector<float> after = forward(map, particles);
  CHECK(relative_norm({after.begin(), after.end()}, {before.begin(), before.end()}) < 1e-5);
}

TEST_CASE("a network maps every matrix and passes the rest through, each row for itself",
          "[inference][matrix_gaussian]") {
  Layout weights;
  weights.add("layer0.weight", {11, 6}, Role::weight, 0, 8);
  weights.add("layer0.bias", {6}, Role::bias, 0, 8);
  weights.add("layer1.weight", {6, 2}, Role::weight, 1);
  weights.add("layer1.bias", {2}, Role::bias, 1);
  weights.add("log_noise_precision", {1}, Role::log_precision);
  MatrixGaussian map(weights, {.reflectors = 4});
  Particles<float> particles = random_particles(map, 7);
  const std::vector<float> together = forward(map, particles);
  const std::vector<float> slopes = random_slopes(weights, 7);
  const std::vector<float> gradients = pull(map, particles, slopes);
  const LayoutEntry& bias = map.coordinates().at("layer0.bias");
  const LayoutEntry& weight_bias = weights.at("layer0.bias");
  for (std::int64_t m = 0; m < 7; ++m) {
    for (std::int64_t j = 0; j < 8; ++j) {
      const float found = together[m * weights.size() + weight_bias.offset + j];
      CHECK(found == (j < 6 ? particles.values()(m, bias.offset + j) : 0.0f));
      if (j < 6)
        CHECK(particles.gradients()(m, bias.offset + j) == slopes[m * weights.size() + weight_bias.offset + j]);
    }
    for (const char* layer : {"layer0.", "layer1."}) {
      const LayoutEntry& entry = weights.at(std::string(layer) + "weight");
      const ReferenceMatrix matrix = reference_matrix(map.coordinates(), particles.values().row(m).data(), layer);
      Numbers found, slope;
      for (std::int64_t i = 0; i < entry.rows(); ++i)
        for (std::int64_t j = 0; j < entry.columns(); ++j) {
          const std::int64_t place = m * weights.size() + entry.offset + i * entry.row_stride + j;
          found.push_back(together[place]);
          slope.push_back(slopes[place]);
        }
      const auto [w, gradient] = map_and_pull(matrix, slope);
      const ReferenceMatrix ours = reference_matrix(map.coordinates(), particles.gradients().row(m).data(), layer);
      CHECK(relative_norm(found, w) < 1e-5);
      for (const auto& [name, expected] : gradient.parts) CHECK(relative_norm(ours.part(name), expected) < 1e-4);
    }
  }

  // The same bits one row at a time, forwards first and pullbacks in another order.
  std::vector<float> alone(together.size());
  const MatrixView<float> view{alone.data(), 7, weights.size()};
  const MatrixView<const float> slope_view{slopes.data(), 7, weights.size()};
  std::vector<std::unique_ptr<ForwardTrace>> traces;
  for (std::int64_t m = 0; m < 7; ++m) {
    traces.push_back(map.make_trace());
    map.forward(particles.coordinates().block(m, 1), {}, view.block(m, 1), *traces.back());
  }
  CHECK(alone == together);
  for (std::int64_t m = 6; m >= 0; --m)
    map.pullback(particles.coordinates().block(m, 1), {}, slope_view.block(m, 1), particles.gradients().block(m, 1),
                 *traces[m]);
  for (std::int64_t m = 0; m < 7; ++m)
    CHECK(std::ranges::equal(particles.gradients().row(m),
                             std::span(gradients).subspan(m * particles.size(), particles.size())));
}

TEST_CASE("the SIMD parameterization gives the same bits at any thread count", "[inference][matrix_gaussian]") {
  MatrixGaussian map(single_matrix(40, 21, 24), {.reflectors = 6});
  Particles<float> particles = random_particles(map, 20);
  const std::vector<float> slopes = random_slopes(map.weights(), 20);
  const int threads = thread_count();
  set_thread_count(1);
  const std::vector<float> weights = forward(map, particles), gradients = pull(map, particles, slopes);
  set_thread_count(4);
  CHECK(forward(map, particles) == weights);
  CHECK(pull(map, particles, slopes) == gradients);
  set_thread_count(threads);
}

TEST_CASE("without reflectors and with identity scales the SIMD weights are the coordinates bit for bit",
          "[inference][matrix_gaussian]") {
  Layout weights;
  weights.add("layer0.weight", {11, 6}, Role::weight, 0, 8);
  weights.add("layer0.bias", {6}, Role::bias, 0, 8);
  weights.add("layer1.weight", {6, 1}, Role::weight, 1);
  MatrixGaussian structured(weights, {.reflectors = 0, .scales = Scales::identity});
  Direct<float> direct(weights);
  Particles<float> particles(structured.coordinates(), 3), others(direct.coordinates(), 3);
  structured.initialise(particles, 5, 1.0);
  direct.initialise(others, 5, 1.0);
  CHECK(forward(structured, particles) == forward(direct, others));
  const std::vector<float> slopes = random_slopes(weights, 3);
  CHECK(pull(structured, particles, slopes) == pull(direct, others, slopes));
}

TEST_CASE("a reflector without a direction is named", "[inference][matrix_gaussian]") {
  MatrixGaussian map(single_matrix(6, 5, 8), {.reflectors = 3});
  Particles<float> particles = random_particles(map, 2);
  const auto spoil = [&](const char* name, std::int64_t k, float value) {
    for (float& number : particles.view(name, 1).row(k)) number = value;
  };
  spoil("layer0.reflectors_right", 1, 0.0f);
  CHECK_THROWS_WITH(
      forward(map, particles),
      "layer0.reflectors_right[1] of particle 1 has no direction: expected a squared length from 1e-30 to "
      "1e+30, got 0");
  try {
    forward(map, particles);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::numeric);
  }
  map.initialise(particles, 5, 1.5);
  spoil("layer0.reflectors_left", 2, std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS_WITH(forward(map, particles),
                    Catch::Contains("layer0.reflectors_left[2] of particle 1 has no direction"));
}

TEST_CASE("rows of another length are refused", "[inference][matrix_gaussian]") {
  MatrixGaussian map(single_matrix(6, 5, 8), {.reflectors = 3});
  Particles<float> particles = random_particles(map, 2);
  std::vector<float> weights(96);
  CHECK_THROWS_WITH(map.forward(particles.coordinates(), {}, {weights.data(), 2, 47}, *map.make_trace()),
                    "structured weights: expected coordinates [m, 74] and weights [m, 48], got [2, 74] and [2, 47]");
}
