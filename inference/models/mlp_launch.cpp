#include <stein/core/error.h>
#include <stein/inference/models/mlp_launch.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace stein::inference {
namespace {

constexpr int four(std::int64_t count) {
  return static_cast<int>((count + 3) / 4 * 4);
}

/// The places of a tile of `rows` rows in shared memory.
MlpTiling placed(const MlpShape& shape, int rows, int ones, bool backward, bool whole) {
  MlpTiling tiling{.rows = rows, .whole = whole, .pitch = rows + 4};
  const auto take = [&](std::int64_t floats) {
    const int place = tiling.size;
    tiling.size += four(floats);
    return place;
  };
  for (int l = 0; l < shape.layers; ++l) {
    const MlpShape::Layer& layer = shape.layer[l];
    // Rows past the biases are read with the slopes of units that there are not.
    if (whole)
      tiling.weight[l] = take(std::int64_t{std::max(layer.inputs + 1, four(layer.inputs))} * four(layer.outputs));
    tiling.units[l] = take(std::int64_t{four(layer.outputs)} * tiling.pitch);
  }
  tiling.inputs = take(std::int64_t{ones > 0 ? ones : four(shape.inputs())} * tiling.pitch);
  if (backward && ones > 0) tiling.turned = take(std::int64_t{rows} * four(shape.layer[0].outputs));
  tiling.sums = take(4 * (rows + 1));
  return tiling;
}

/// Numbers that a block shares at least without the weights; they may be more than an int counts.
std::int64_t least_floats(const MlpShape& shape, int ones) {
  std::int64_t units = ones > 0 ? ones : shape.inputs();
  for (int l = 0; l < shape.layers; ++l) units += shape.layer[l].outputs;
  return units * 8;
}

std::string name_of(const MlpShape& shape) {
  std::vector<int> widths{shape.inputs()};
  for (int l = 0; l < shape.layers; ++l) widths.push_back(shape.layer[l].outputs);
  return fmt::format("{}", fmt::join(widths, "-"));
}

}  // namespace

MlpShape::MlpShape(const MlpSpec& spec)
    : layers(static_cast<int>(spec.layers())),
      activation(spec.activation),
      likelihood(spec.likelihood),
      noise_precision(spec.noise_precision) {
  STEIN_CHECK(spec.layers() <= most_layers, "a perceptron on a device: expected at most {} layers, got {}", most_layers,
              spec.layers());
  const Layout layout = mlp_layout(spec);
  constexpr std::int64_t most_weights = std::int64_t{1} << 30;
  STEIN_CHECK(layout.size() <= most_weights, "a perceptron on a device: expected at most {} weights, got {}",
              most_weights, layout.size());
  for (int l = 0; l < layers; ++l)
    layer[l] = {.inputs = static_cast<int>(spec.layer_inputs(l)),
                .outputs = static_cast<int>(spec.layer_outputs(l)),
                .weight = static_cast<int>(layout.at(fmt::format("layer{}.weight", l)).offset)};
  size = static_cast<int>(layout.size());
  constants = static_cast<int>(spec.constants);
  if (constants > 0) constant = static_cast<int>(layout.at("constants").offset);
  if (spec.learn_noise_precision) log_noise_precision = static_cast<int>(layout.at("log_noise_precision").offset);
}

bool weights_fit(const MlpShape& shape, std::int64_t most_bytes) {
  const std::int64_t most_floats = most_bytes / static_cast<std::int64_t>(sizeof(float));
  if (shape.size + least_floats(shape, 0) > most_floats) return false;
  return placed(shape, 16, 0, true, true).size <= most_floats;
}

MlpTiling tile(const MlpShape& shape, std::int64_t rows, int ones, bool backward, std::int64_t most_bytes) {
  constexpr std::int64_t most_shares = 16,
                         most_numbers = std::int64_t{1} << 22;  // of the gradients of a network's shares
  struct Form {
    int rows;
    bool whole;
  };
  const std::int64_t most_floats = most_bytes / static_cast<std::int64_t>(sizeof(float));
  for (const auto [most_rows, whole] : {Form{64, true}, Form{32, true}, Form{16, true}, Form{64, false},
                                        Form{32, false}, Form{16, false}, Form{8, false}, Form{4, false}}) {
    if ((whole ? shape.size : 0) + least_floats(shape, ones) > most_floats) continue;
    const int size = four(std::min<std::int64_t>(rows, most_rows));
    MlpTiling tiling = placed(shape, size, ones, backward, whole);
    if (tiling.size > most_floats) continue;
    tiling.tiles = (rows + size - 1) / size;
    tiling.shares = tiling.tiles;
    if (backward)
      tiling.shares = std::min(tiling.tiles, std::clamp<std::int64_t>(most_numbers / shape.size, 1, most_shares));
    return tiling;
  }
  fail(ErrorKind::usage,
       "a perceptron on a device: the layers of {} for four rows take more than the {} bytes that threads share there; "
       "expected narrower layers or fewer inputs, or device=cpu",
       name_of(shape), most_bytes);
}

}  // namespace stein::inference
