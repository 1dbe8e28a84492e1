#include <stein/core/error.h>
#include <stein/inference/layer_temperature.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::inference {

LayerTemperature::LayerTemperature(const Layout& layout, std::string name)
    : name_(std::move(name)), size_(layout.size()) {
  for (const LayoutEntry& entry : layout.entries()) {
    const auto known = std::ranges::find(layers_, entry.layer, &Layer::number);
    Layer& layer = known == layers_.end() ? layers_.emplace_back(Layer{.number = entry.layer}) : *known;
    layer.variables += entry.size();
    layer.spans.emplace_back(entry.offset, entry.extent());
  }
  std::ranges::sort(layers_, {}, &Layer::number);
}

template <class Scalar>
void LayerTemperature::add_products(MatrixView<const Scalar> a, MatrixView<const Scalar> b, double scale) {
  STEIN_CHECK(a.rows >= 1 && a.columns == size_ && b.rows == a.rows && b.columns == size_,
              "{}: expected rows of {} coordinates, got [{}, {}] and [{}, {}]", name_, size_, a.rows, a.columns, b.rows,
              b.columns);
  for (Layer& layer : layers_) {
    double product = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (const auto& [offset, length] : layer.spans)
        for (std::int64_t q = offset; q < offset + length; ++q)
          product += static_cast<double>(a(i, q)) * static_cast<double>(b(i, q));
    layer.open += scale * product / static_cast<double>(a.rows * layer.variables);
  }
  ++steps_;
  if (++in_block_ < block_) return;
  in_block_ = 0;
  bool full = false;
  for (Layer& layer : layers_) {
    layer.blocks.push_back(layer.open);
    layer.open = 0;
    if (layer.blocks.size() < 64) continue;
    full = true;
    for (std::size_t j = 0; j < 32; ++j) layer.blocks[j] = layer.blocks[2 * j] + layer.blocks[2 * j + 1];
    layer.blocks.resize(32);
  }
  if (full) block_ *= 2;
}

std::vector<LayerTemperature::Reading> LayerTemperature::readings() const {
  constexpr double quantile = 2.75;  // of Student's t at 99 %, 31 degrees of freedom
  std::vector<Reading> found;
  for (const Layer& layer : layers_) {
    const auto count = static_cast<double>(layer.blocks.size()), length = static_cast<double>(block_);
    double sum = 0, square = 0;
    for (const double block : layer.blocks) sum += block / length;
    const double mean = sum / count;
    for (const double block : layer.blocks) square += std::pow(block / length - mean, 2);
    const double error = layer.blocks.size() < 32 ? std::numeric_limits<double>::infinity()
                                                  : quantile * std::sqrt(square / (count - 1) / count);
    found.push_back({.layer = layer.number, .mean = mean, .low = mean - error, .high = mean + error});
  }
  return found;
}

std::optional<std::string> LayerTemperature::warning(double temperature) const {
  std::string text;
  for (const Reading& reading : readings())
    if (reading.low > 1.1 * temperature || reading.high < 0.9 * temperature)
      text += fmt::format("layer {} runs at {} {:.3g} (99 % interval {:.3g} to {:.3g}), not at {:.3g}\n", reading.layer,
                          name_, reading.mean, reading.low, reading.high, temperature);
  if (text.empty()) return std::nullopt;
  text.pop_back();
  return text;
}

template void LayerTemperature::add_products(MatrixView<const float>, MatrixView<const float>, double);
template void LayerTemperature::add_products(MatrixView<const double>, MatrixView<const double>, double);

}  // namespace stein::inference
