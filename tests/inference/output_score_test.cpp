// Batches that score a network's outputs themselves, through both drivers of the perceptron.
#include <stein/inference/models/particle_mlp.h>
#include <stein/torch/particle_mlp_reference.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t particles = 3, rows = 300, inputs = 4, outputs = 2;

/// log N(y | f, e^{2s}) with one log sd an output: what a Gaussian policy scores. Targets differ by particle.
template <class Scalar>
class GaussianScore final : public OutputScore<Scalar> {
 public:
  explicit GaussianScore(const std::vector<Scalar>& targets) : targets_(targets) {}
  double score(std::int64_t particle, std::int64_t first, MatrixView<const Scalar> f, std::span<const Scalar> constants,
               MatrixView<Scalar> gradient, std::span<Scalar> constant_gradient) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < f.rows; ++i)
      for (std::int64_t k = 0; k < outputs; ++k) {
        const auto s = static_cast<std::size_t>(k);
        const double target = targets_[static_cast<std::size_t>((particle * rows + first + i) * outputs + k)];
        const double inverse = std::exp(-double{constants[s]}), z = (target - double{f(i, k)}) * inverse;
        sum += -0.5 * z * z - double{constants[s]};
        gradient(i, k) = static_cast<Scalar>(z * inverse);
        constant_gradient[s] += static_cast<Scalar>(z * z - 1);
      }
    return sum;
  }

 private:
  const std::vector<Scalar>& targets_;
};

template <class Scalar>
struct ScoreCase {
  MlpSpec spec{
      .inputs = inputs, .hidden = {25, 10}, .outputs = outputs, .activation = Activation::tanh, .constants = outputs};
  std::vector<Scalar> x = std::vector<Scalar>(static_cast<std::size_t>(particles * rows * inputs)),
                      y = std::vector<Scalar>(static_cast<std::size_t>(particles * rows * outputs));
  GaussianScore<Scalar> own{y};

  ScoreCase() {
    // Drawn as floats, so that both drivers see the same numbers.
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = normal_at<float>({.seed = 1}, 0, i);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = normal_at<float>({.seed = 1}, 1, i);
  }
  Batch<Scalar> batch() const {
    return {.inputs = {.dense = {x.data(), particles * rows, inputs}},
            .inputs_per_particle = true,
            .rows = rows,
            .data_size = 600,
            .score = &own};
  }
  /// The same weights in any layout of the network: number q of its coordinates is drawn.
  std::vector<Scalar> weights(const Layout& layout) const {
    std::vector<Scalar> flat(static_cast<std::size_t>(particles * layout.size()));
    for (std::int64_t i = 0; i < particles; ++i) {
      std::uint64_t q = 0;
      for (const LayoutEntry& entry : layout.entries())
        for (std::int64_t r = 0; r < entry.rows(); ++r)
          for (std::int64_t c = 0; c < entry.columns(); ++c)
            flat[static_cast<std::size_t>(i * layout.size() + entry.offset + r * entry.row_stride + c)] =
                0.4F * normal_at<float>({.seed = 2}, static_cast<std::uint32_t>(i), q++);
    }
    return flat;
  }
};

/// The gradient without padding, particle by particle.
template <class Scalar>
std::vector<double> unpadded(const Layout& layout, const std::vector<Scalar>& flat) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < particles; ++i)
    for (const LayoutEntry& entry : layout.entries())
      for (std::int64_t r = 0; r < entry.rows(); ++r)
        for (std::int64_t c = 0; c < entry.columns(); ++c)
          numbers.push_back(
              flat[static_cast<std::size_t>(i * layout.size() + entry.offset + r * entry.row_stride + c)]);
  return numbers;
}

template <class Scalar>
struct Scored {
  std::vector<double> gradient;
  std::vector<double> value = std::vector<double>(particles);
};

template <class Scalar, class Driver>
Scored<Scalar> scored(Driver& model, const ScoreCase<Scalar>& which, std::vector<Scalar> flat) {
  const std::int64_t size = model.layout().size();
  std::vector<Scalar> gradient(flat.size(), Scalar{7});
  Scored<Scalar> result;
  model.log_likelihood({{flat.data(), particles, size}}, which.batch(), {},
                       {.gradient = {gradient.data(), particles, size}, .value = result.value});
  result.gradient = unpadded(model.layout(), gradient);
  return result;
}

}  // namespace

TEST_CASE("a score of the outputs is differentiated through the network and its constants", "[inference][mlp]") {
  const ScoreCase<double> which;
  ParticleMlpReference<double> model(which.spec);
  const std::vector<double> start = which.weights(model.layout());
  const Scored<double> at_start = scored(model, which, start);
  const std::int64_t size = model.layout().size();
  for (const std::int64_t q : {std::int64_t{0}, std::int64_t{101}, std::int64_t{260}, size - 3, size - 2, size - 1}) {
    CAPTURE(q);
    const double h = 1e-5;
    std::vector<double> forward = start, backward = start;
    for (std::int64_t i = 0; i < particles; ++i) {
      forward[static_cast<std::size_t>(i * size + q)] += h;
      backward[static_cast<std::size_t>(i * size + q)] -= h;
    }
    const Scored<double> above = scored(model, which, forward), below = scored(model, which, backward);
    for (std::size_t i = 0; i < particles; ++i)
      CHECK(at_start.gradient[i * static_cast<std::size_t>(size) + static_cast<std::size_t>(q)] ==
            Approx((above.value[i] - below.value[i]) / (2 * h)).epsilon(1e-6).margin(1e-5));
  }
}

TEST_CASE("the fused perceptron gives a score of the outputs as the reference does", "[inference][mlp][parity]") {
  const ScoreCase<double> exact;
  const ScoreCase<float> which;
  ParticleMlpReference<double> reference(exact.spec);
  ParticleMlp fused(which.spec);
  const Scored<double> expected = scored(reference, exact, exact.weights(reference.layout()));
  const Scored<float> found = scored(fused, which, which.weights(fused.layout()));
  double apart = 0, length = 0;
  REQUIRE(found.gradient.size() == expected.gradient.size());
  for (std::size_t q = 0; q < expected.gradient.size(); ++q) {
    apart += std::pow(found.gradient[q] - expected.gradient[q], 2);
    length += std::pow(expected.gradient[q], 2);
  }
  CHECK(std::sqrt(apart / length) < 1e-5);
  for (std::size_t i = 0; i < particles; ++i) CHECK(found.value[i] == Approx(expected.value[i]).epsilon(1e-5));
}

TEST_CASE("a batch with a score of its own has no targets", "[inference][mlp]") {
  const ScoreCase<float> which;
  ParticleMlp model(which.spec);
  std::vector<float> flat = which.weights(model.layout()), gradient(flat.size());
  Batch<float> batch = which.batch();
  batch.targets = {which.y.data(), rows, outputs};
  CHECK_ERROR(model.log_likelihood({{flat.data(), particles, model.layout().size()}}, batch, {},
                                   {.gradient = {gradient.data(), particles, model.layout().size()}}),
              usage, "no place for targets");
}

TEST_CASE("every weight sample of a particle is scored as that particle", "[inference][mlp]") {
  // The score is (particle + 1) times the outputs' sum; two samples a particle, the first particle is number 5.
  struct ByParticle final : OutputScore<float> {
    double score(std::int64_t particle, std::int64_t, MatrixView<const float> f, std::span<const float>,
                 MatrixView<float> gradient, std::span<float>) const override {
      double sum = 0;
      for (std::int64_t i = 0; i < f.rows; ++i)
        for (std::int64_t k = 0; k < f.columns; ++k) {
          gradient(i, k) = static_cast<float>(particle + 1);
          sum += static_cast<double>(particle + 1) * static_cast<double>(f(i, k));
        }
      return sum;
    }
  } by_particle;
  const MlpSpec spec{.inputs = 3, .outputs = 2};
  const std::vector<float> x{1, -2, 0.5F, 0.3F, 4, 1};
  const Batch<float> batch{.inputs = {.dense = {x.data(), 2, 3}},
                           .rows = 2,
                           .data_size = 2,
                           .score = &by_particle,
                           .first_particle = 5,
                           .weight_samples = 2};
  ParticleMlp fused(spec);
  ParticleMlpReference<float> reference(spec);
  for (Model<float>* model : {static_cast<Model<float>*>(&fused), static_cast<Model<float>*>(&reference)}) {
    const std::int64_t size = model->layout().size(), bias = model->layout().at("layer0.bias").offset;
    std::vector<float> weights(static_cast<std::size_t>(4 * size)), gradient(weights.size());
    for (std::int64_t i = 0; i < 4; ++i) weights[static_cast<std::size_t>(i * size + bias)] = 1;  // outputs are (1, 0)
    std::vector<double> value(4);
    model->log_likelihood({{weights.data(), 4, size}}, batch, {},
                          {.gradient = {gradient.data(), 4, size}, .value = value});
    CHECK(value == std::vector<double>{12, 12, 14, 14});
    for (std::int64_t i = 0; i < 4; ++i)
      CHECK(gradient[static_cast<std::size_t>(i * size + bias)] == (i < 2 ? 12.0F : 14.0F));
  }
}
