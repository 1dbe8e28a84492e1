#include <stein/inference/parameterizations/coupled_noise.h>
#include <stein/inference/weight_driver.h>

#include <cmath>

namespace stein::inference {

Layout without_noise_precision(const Layout& weights) {
  STEIN_CHECK(!weights.entries().empty() && weights.entries().back().name == "log_noise_precision",
              "coupled noise: the model's last parameter must be 'log_noise_precision'; a perceptron has it with "
              "learn_noise_precision");
  Layout rest;
  for (std::size_t k = 0; k + 1 < weights.entries().size(); ++k) {
    const LayoutEntry& entry = weights.entries()[k];
    rest.add(entry.name, entry.shape, entry.role, entry.layer, entry.row_stride, entry.fan_in);
  }
  for (const LayoutEntry& entry : weights.buffers()) rest.add_buffer(entry.name, entry.shape);
  return rest;
}

template <class Scalar>
CoupledNoise<Scalar>::CoupledNoise(Layout weights, std::unique_ptr<Parameterization<Scalar>> inner,
                                   std::shared_ptr<const SpikeAndSlabLatents> latents, Device device)
    : weights_(std::move(weights)),
      inner_(std::move(inner)),
      latents_(std::move(latents)),
      driver_(weight_driver<Scalar>(device)) {
  const std::int64_t expected = without_noise_precision(weights_).size();
  STEIN_CHECK(inner_->weights().size() == expected,
              "coupled noise: the inner parameterization maps to {} numbers, expected {}", inner_->weights().size(),
              expected);
}

template <class Scalar>
void CoupledNoise<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                   MatrixView<Scalar> weights, ForwardTrace& trace) const {
  MatrixView<Scalar> rest = weights;
  rest.columns = inner_->weights().size();
  inner_->forward(coordinates, noise, rest, trace);
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const double sigma = latents_->sigma(coordinates.first_row + i / samples());
    driver_.fill(weights.row(i).subspan(static_cast<std::size_t>(rest.columns), 1),
                 static_cast<Scalar>(-2 * std::log(sigma)));
  }
}

template <class Scalar>
void CoupledNoise<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                    MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                                    ForwardTrace& trace) const {
  MatrixView<const Scalar> rest = weight_gradient;
  rest.columns = inner_->weights().size();
  inner_->pullback(coordinates, noise, rest, gradient, trace);
}

template class CoupledNoise<float>;
template class CoupledNoise<double>;

}  // namespace stein::inference
