#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/storage/copy_rows.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {

Layout without_padding(const Layout& layout) {
  Layout result;
  for (const LayoutEntry& entry : layout.entries())
    result.add(entry.name, entry.shape, entry.role, entry.layer, 0, entry.fan_in);
  for (const LayoutEntry& entry : layout.buffers()) result.add_buffer(entry.name, entry.shape);
  return result;
}

template <class Scalar>
void add_padding(const Layout& layout, MatrixView<const Scalar> from, MatrixView<Scalar> to) {
  for (std::int64_t i = 0; i < from.rows; ++i) {
    const Scalar* packed = from.row(i).data();
    for (const LayoutEntry& entry : layout.entries()) {
      const std::int64_t entry_rows = entry.rows();
      spread_rows(packed, entry_rows, entry.columns(), to.row(i).data() + entry.offset, entry.row_stride);
      packed += entry_rows * entry.columns();
    }
  }
}

template <class Scalar>
void remove_padding(const Layout& layout, MatrixView<const Scalar> from, MatrixView<Scalar> to) {
  for (std::int64_t i = 0; i < from.rows; ++i) {
    Scalar* packed = to.row(i).data();
    for (const LayoutEntry& entry : layout.entries()) {
      const std::int64_t entry_rows = entry.rows();
      pack_rows(from.row(i).data() + entry.offset, entry.row_stride, entry_rows, entry.columns(), packed);
      packed += entry_rows * entry.columns();
    }
  }
}

template <class Scalar>
void initialise_coordinates(Particles<Scalar>& particles, std::uint64_t seed, double spread, Stream stream) {
  STEIN_CHECK(spread >= 0, "initial spread must be ≥ 0, got {}", spread);
  const NoiseKey key{.seed = seed, .step = 0, .stream = stream};
  for (std::int64_t i = 0; i < particles.rows(); ++i) {
    const auto row = particles.values().row(i);
    for (const LayoutEntry& entry : particles.layout().entries()) {
      const bool reflector = entry.role == Role::reflector_left || entry.role == Role::reflector_right;
      const auto values = row.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size()));
      if (entry.role != Role::weight && !reflector) {
        std::ranges::fill(values, static_cast<Scalar>(entry.centre()));
        continue;
      }
      fill_normal(values, key, static_cast<std::uint32_t>(particles.first_row() + i),
                  static_cast<std::uint64_t>(entry.offset));
      const std::int64_t inputs = entry.fan_in == 0 ? entry.rows() : entry.fan_in;
      const Scalar scale = reflector ? Scalar{1} : static_cast<Scalar>(spread / std::sqrt(static_cast<double>(inputs)));
      for (Scalar& value : values) value *= scale;
    }
  }
}

template <class Scalar>
Direct<Scalar>::Direct(Layout weights, Device device)
    : weights_(std::move(weights)), coordinates_(without_padding(weights_)), device_(device) {
  STEIN_CHECK(device.kind == Device::Kind::host || passes_through(),
              "plain weights on device {}: expected weights without padding", device_name(device));
}

template <class Scalar>
void Direct<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey&, MatrixView<Scalar> weights,
                             ForwardTrace&) const {
  if (device_.kind == Device::Kind::host)
    add_padding<Scalar>(weights_, coordinates.values, weights);
  else
    copy_rows(coordinates.values, weights, device_);
}

template <class Scalar>
void Direct<Scalar>::pullback(const ParticleRows<const Scalar>&, const NoiseKey&,
                              MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                              ForwardTrace&) const {
  if (device_.kind == Device::Kind::host)
    remove_padding<Scalar>(weights_, weight_gradient, gradient);
  else
    copy_rows(weight_gradient, gradient, device_);
}

template <class Scalar>
void Direct<Scalar>::initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

template void add_padding(const Layout&, MatrixView<const float>, MatrixView<float>);
template void add_padding(const Layout&, MatrixView<const double>, MatrixView<double>);
template void remove_padding(const Layout&, MatrixView<const float>, MatrixView<float>);
template void remove_padding(const Layout&, MatrixView<const double>, MatrixView<double>);
template class Direct<float>;
template class Direct<double>;
template void initialise_coordinates(Particles<float>&, std::uint64_t, double, Stream);
template void initialise_coordinates(Particles<double>&, std::uint64_t, double, Stream);

}  // namespace stein::inference
