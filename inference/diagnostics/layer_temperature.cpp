#include <stein/core/error.h>
#include <stein/inference/diagnostics/layer_temperature.h>
#include <stein/inference/samplers/driver.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::inference {
namespace {

/// Coordinates of a span that are not held at zero; those past the end of `free` are free.
std::int64_t count_free(std::span<const std::uint8_t> free, std::int64_t offset, std::int64_t length) {
  const std::int64_t known = std::clamp(std::ssize(free) - offset, std::int64_t{0}, length);
  if (known == 0) return length;
  const auto first = free.begin() + offset;
  return length - std::count(first, first + known, std::uint8_t{0});
}

/// Half the 99 % interval of the mean of equally long blocks, or infinity if they are too few or too correlated.
double half_interval(const std::vector<double>& blocks, double mean) {
  constexpr double quantile = 2.75;  // of Student's t at 99 %, 31 degrees of freedom
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (blocks.size() < 32) return infinite;
  const auto count = static_cast<double>(blocks.size());
  double square = 0, product = 0;
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    square += (blocks[j] - mean) * (blocks[j] - mean);
    if (j > 0) product += (blocks[j - 1] - mean) * (blocks[j] - mean);
  }
  // 1/n: what the estimate lacks because the mean is that of the same blocks.
  const double correlation = std::max(0.0, product / square + 1 / count);
  if (!(3 * correlation <= 1)) return infinite;
  return quantile * std::sqrt(square / (count - 1) / count * (1 + correlation) / (1 - correlation));
}

}  // namespace

LayerTemperature::LayerTemperature(const Layout& layout, std::string name)
    : name_(std::move(name)), size_(layout.size()) {
  for (const LayoutEntry& entry : layout.entries()) {
    const auto known = std::ranges::find(layers_, entry.layer, &Layer::number);
    Layer& layer =
        known == layers_.end()
            ? layers_.emplace_back(Layer{.number = entry.layer, .name = entry.name.substr(0, entry.name.find('.'))})
            : *known;
    layer.spans.emplace_back(entry.offset, entry.extent());
  }
  std::ranges::sort(layers_, {}, &Layer::number);
}

template <class Scalar>
void LayerTemperature::add_products(MatrixView<const Scalar> a, MatrixView<const Scalar> b, double scale,
                                    const Target<Scalar>& target, std::int64_t first_row, Device device) {
  STEIN_CHECK(a.rows >= 1 && a.columns == size_ && b.rows == a.rows && b.columns == size_,
              "{}: expected rows of {} coordinates, got [{}, {}] and [{}, {}]", name_, size_, a.rows, a.columns, b.rows,
              b.columns);
  const Driver<Scalar>& driver = inference::driver<Scalar>(Ensemble{.device = device});
  for (Layer& layer : layers_) {
    double product = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::span<const std::uint8_t> free = target.free_coordinates(first_row + i);
      for (const auto& [offset, length] : layer.spans) {
        count += count_free(free, offset, length);
        driver.add_products(a.row(i).subspan(offset, length), b.row(i).subspan(offset, length), product);
      }
    }
    layer.open += scale * product / static_cast<double>(count);
    layer.coordinates += static_cast<double>(count);
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

void LayerTemperature::merge(const LayerTemperature& other) {
  STEIN_CHECK(std::ranges::equal(layers_, other.layers_, {}, &Layer::number, &Layer::number),
              "{}: expected readings of the same layers", name_);
  STEIN_CHECK(other.steps_ == steps_, "{}: expected readings of the same {} steps, got {}", name_, steps_,
              other.steps_);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& own = layers_[l];
    const Layer& added = other.layers_[l];
    const double together = own.coordinates + added.coordinates;
    if (added.coordinates == 0) continue;  // nothing was free there: its readings are no numbers
    if (own.coordinates == 0) {
      own = added;
      continue;
    }
    const double share = added.coordinates / together;
    for (std::size_t j = 0; j < own.blocks.size(); ++j) own.blocks[j] += share * (added.blocks[j] - own.blocks[j]);
    own.open += share * (added.open - own.open);
    own.coordinates = together;
  }
}

std::vector<LayerTemperature::Reading> LayerTemperature::readings() const {
  std::vector<Reading> found;
  for (const Layer& layer : layers_) {
    double sum = 0;
    for (const double block : layer.blocks) sum += block;
    const double length = static_cast<double>(block_), block_mean = sum / static_cast<double>(layer.blocks.size());
    const double mean = block_mean / length, error = half_interval(layer.blocks, block_mean) / length;
    found.push_back(
        {.layer = layer.number, .name = layer.name, .mean = mean, .low = mean - error, .high = mean + error});
  }
  return found;
}

void LayerTemperature::save(Snapshot& snapshot) const {
  snapshot.put("counts", std::vector<std::int64_t>{steps_, block_, in_block_});
  for (const Layer& layer : layers_) {
    Snapshot part;
    part.put("blocks", layer.blocks);
    part.put("open", layer.open);
    part.put("coordinates", layer.coordinates);
    snapshot.put_part(fmt::format("layer{}", layer.number), part);
  }
}

void LayerTemperature::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  if (counts.size() != 3) fail(ErrorKind::data, "{}: expected 3 saved counts, found {}", name_, counts.size());
  steps_ = counts[0], block_ = counts[1], in_block_ = counts[2];
  for (Layer& layer : layers_) {
    const Snapshot part = snapshot.part(fmt::format("layer{}", layer.number));
    layer.blocks = part.get_vector<double>("blocks");
    layer.open = part.get_scalar<double>("open");
    layer.coordinates = part.get_scalar<double>("coordinates");
  }
}

std::optional<std::string> LayerTemperature::warning(double temperature) const {
  constexpr double plain = 10;  // times the temperature, between it and a reading of which nobody needs an interval
  std::string layers;
  const std::vector<Reading> all = readings();
  std::ptrdiff_t far = 0;
  for (const Reading& reading : all) {
    const bool sure = reading.low > 1.1 * temperature || reading.high < 0.9 * temperature;
    const bool unsure = std::isinf(reading.low) && std::abs(reading.mean - temperature) > plain * temperature;
    if (!sure && !unsure) continue;
    ++far;
    layers += fmt::format("{}{} {:.3g}", layers.empty() ? "" : ", ", reading.name, reading.mean);
    layers += sure ? fmt::format(" (99 % interval {:.3g} to {:.3g})", reading.low, reading.high) : " (no interval yet)";
  }
  if (far == 0) return std::nullopt;
  return fmt::format(
      "{} of {} layers are far from the {} {:.3g}, so their samples are not those of the posterior (the chain has not "
      "settled, or its steps are too long): {}",
      far, all.size(), name_, temperature, layers);
}

template void LayerTemperature::add_products(MatrixView<const float>, MatrixView<const float>, double,
                                             const Target<float>&, std::int64_t, Device);
template void LayerTemperature::add_products(MatrixView<const double>, MatrixView<const double>, double,
                                             const Target<double>&, std::int64_t, Device);

}  // namespace stein::inference
