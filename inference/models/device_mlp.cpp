#include <stein/core/error.h>
#include <stein/inference/models/batched_product.h>
#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/device_score.h>
#include <stein/inference/models/mlp_batch.h>
#include <stein/inference/storage/device_memory.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// Throws Error(usage) unless rows begin on 16 bytes, as those of a Matrix do.
void check_rows(std::string_view what, MatrixView<const float> rows, std::int64_t columns) {
  STEIN_CHECK(rows.columns == columns, "network: expected {} [m, {}], got [{}, {}]", what, columns, rows.rows,
              rows.columns);
  const bool aligned = reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 && rows.stride % 4 == 0;
  STEIN_CHECK(aligned, "network on a device: expected rows of {} that begin on 16 bytes, as those of a Matrix", what);
}

/// Makes a row of a device longer where it has less than `count` numbers.
template <class T>
T* reserve(Matrix<T>& row, std::int64_t count, Device device) {
  if (row.columns() < count) row = Matrix<T>(1, count, device);
  return row.view().data;
}

bool fits(const MlpSpec& spec, Device device) {
  return weights_fit(MlpShape(spec), mlp_driver(device).shared_bytes(device.index));
}

}  // namespace

DeviceMlp::DeviceMlp(const MlpSpec& spec, Device device)
    : DeviceMlp(spec, device, !fits(spec, device) && product_driver(device) != nullptr) {}

DeviceMlp::DeviceMlp(const MlpSpec& spec, Device device, bool products)
    : spec_(spec),
      layout_(mlp_layout(spec)),
      shape_(spec),
      device_(device),
      driver_(mlp_driver(device)),
      shared_bytes_(driver_.shared_bytes(device.index)),
      products_(products && !weights_fit(shape_, shared_bytes_)) {
  STEIN_CHECK(products_ || spec.precision == Precision::single,
              "option 'precision': the weights of this network lie in the memory of a block of threads, which computes "
              "in single precision; expected single, or wider layers");
  if (!products_)
    static_cast<void>(tile(shape_, 1, static_cast<int>(spec.active_inputs), true, shared_bytes_));  // else says why
}

double DeviceMlp::initial_value(const LayoutEntry&) const {
  return std::log(spec_.noise_precision);
}

MlpRows DeviceMlp::upload(Room& room) const {
  const std::span<const std::byte> bytes = room.packed.bytes();
  if (room.batch.bytes() < bytes.size()) room.batch = DeviceBlock(device_, bytes.size());
  driver_.upload(device_.index, room.batch.data(), bytes.data(), bytes.size());
  return room.packed.rows_at(static_cast<const std::byte*>(room.batch.data()));
}

void DeviceMlp::copy_out(void* to, const void* from, std::size_t bytes) const {
  device_memory(device_.kind).copy_out(device_.index, to, from, bytes);
}

MlpLaunch DeviceMlp::launch_of(MatrixView<const float> weights, const MlpTiling& tiling, const MlpRows& rows) const {
  return {.shape = shape_,
          .rows = rows,
          .tiling = tiling,
          .networks = weights.rows,
          .weights = weights.data,
          .weight_stride = weights.stride};
}

MlpTiling DeviceMlp::tiling_of(bool by_layers, const Inputs<float>& inputs, std::int64_t rows, bool backward) const {
  if (by_layers) return {.shares = 1};
  const int ones = inputs.one_hot() ? static_cast<int>(inputs.ones.columns) : 0;
  return tile(shape_, rows, ones, backward, shared_bytes_);
}

MlpLayers DeviceMlp::layers_of(Room& room, std::int64_t networks, const MlpRows& rows) const {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 26, line = 16;  // 256 MiB; numbers of a cache line
  std::int64_t outputs = 0, widest = 0;
  for (int l = 0; l < shape_.layers; ++l) {
    outputs += shape_.layer[l].outputs;
    if (l + 1 < shape_.layers) widest = std::max<std::int64_t>(widest, shape_.layer[l].outputs);
  }
  const std::int64_t spread = rows.ones == nullptr ? 0 : (rows.own_inputs ? networks : 1) * shape_.inputs();
  const std::int64_t chunk =
      std::clamp<std::int64_t>(most_numbers / (networks * (outputs + widest) + spread), 1, rows.rows);
  const auto whole_lines = [](std::int64_t numbers) { return (numbers + line - 1) / line * line; };
  const std::int64_t units = whole_lines(networks * chunk * outputs), slopes = whole_lines(networks * chunk * widest);
  float* const memory = reserve(room.units, units + slopes + chunk * spread, device_);
  return {.rows = chunk,
          .units = memory,
          .slopes = memory + units,
          .inputs = spread == 0 ? nullptr : memory + units + slopes,
          .row_sums = reserve(room.row_sums, 2 * networks * chunk, device_),
          .precision = spec_.precision};
}

void DeviceMlp::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey&,
                               const Evaluation<float>& wanted) {
  const std::int64_t networks = weights.values.rows, particles = networks / batch.weight_samples;
  const bool backward = wanted.wants_gradient();
  check_batch(spec_, batch, particles);
  check_rows("weights", weights.values, layout_.size());
  const bool with_value = wanted.wants_value() || wanted.late != nullptr;
  if (networks == 0 || !(backward || with_value)) return;
  const bool layered = by_layers(batch.inputs_per_particle && batch.weight_samples > 1);
  const MlpTiling tiling = tiling_of(layered, batch.inputs, batch.rows, backward);
  const auto room = borrow_room();
  room->packed.assign(shape_, batch, particles, tiling, backward && !layered);
  MlpLaunch launch = launch_of(weights.values, tiling, upload(*room));
  if (layered) launch.layers = layers_of(*room, networks, launch.rows);
  launch.samples = batch.weight_samples;
  launch.scale = batch.likelihood_scale();
  if (backward) {
    check_rows("gradients", wanted.gradient, layout_.size());
    launch.gradient = wanted.gradient.data, launch.gradient_stride = wanted.gradient.stride;
    if (tiling.shares > 1)
      launch.shares = reserve(room->shares, tiling.shares * networks * launch.padded_size(), device_);
  }
  const std::int64_t sums = tiling.shares * networks * 2;
  const bool own_score = batch.score != nullptr, noise = backward && shape_.log_noise_precision >= 0;
  if (own_score) score(batch, wanted, *room, launch);
  if ((with_value && !own_score) || noise) launch.sums = reserve(room->sums, sums, device_);
  if (backward || !own_score) driver_.pass(device_.index, launch);
  if (!with_value || own_score) return;
  if (wanted.late != nullptr)
    return wanted.late->put_sums(
        wanted.late_row, networks,
        device_memory(device_.kind).send_home(device_.index, launch.sums, static_cast<std::size_t>(sums)),
        tiling.shares, 2);
  room->sums_here.resize(static_cast<std::size_t>(sums));
  copy_out(room->sums_here.data(), launch.sums, static_cast<std::size_t>(sums) * sizeof(double));
  for (std::int64_t i = 0; i < networks; ++i) {
    wanted.value[i] = 0;
    for (std::int64_t share = 0; share < tiling.shares; ++share)
      wanted.value[i] += room->sums_here[static_cast<std::size_t>(2 * (share * networks + i))];
  }
}

void DeviceMlp::score(const Batch<float>& batch, const Evaluation<float>& wanted, Room& room, MlpLaunch& launch) const {
  const std::int64_t networks = launch.networks, n = batch.rows, columns = spec_.outputs, constants = spec_.constants;
  const std::int64_t outputs = networks * n * columns;
  MlpLaunch forward = launch;
  forward.tiling = tiling_of(launch.layers.units != nullptr, batch.inputs, n, false);
  forward.gradient = forward.shares = nullptr;
  forward.outputs = reserve(room.outputs, outputs, device_);
  driver_.pass(device_.index, forward);
  const auto* there = dynamic_cast<const DeviceScore*>(batch.score);
  if (wanted.wants_value() || batch.weight_samples > 1 || there == nullptr || !there->made_on(device_))
    return score_here(batch, wanted, room, launch);
  launch.rows.slopes = reserve(room.slopes, outputs + networks * constants, device_);
  launch.rows.constant_slopes = launch.rows.slopes + outputs;
  float* const slopes = room.slopes.view().data;
  there->score_on(device_, {.networks = networks,
                            .first_particle = batch.first_particle,
                            .rows = n,
                            .columns = columns,
                            .outputs = forward.outputs,
                            .constants = constants > 0 ? launch.weights + shape_.constant : nullptr,
                            .constant_stride = launch.weight_stride,
                            .scale = static_cast<float>(launch.scale),
                            .slopes = slopes,
                            .constant_slopes = slopes + outputs});
}

void DeviceMlp::score_here(const Batch<float>& batch, const Evaluation<float>& wanted, Room& room,
                           MlpLaunch& launch) const {
  const std::int64_t networks = launch.networks, n = batch.rows, columns = spec_.outputs, constants = spec_.constants;
  const std::int64_t outputs = networks * n * columns;
  room.outputs_here.resize(static_cast<std::size_t>(outputs + networks * constants));
  room.slopes_here.assign(room.outputs_here.size(), 0);
  copy_out(room.outputs_here.data(), room.outputs.view().data, static_cast<std::size_t>(outputs) * sizeof(float));
  for (std::int64_t i = 0; i < networks; ++i) {
    const auto place = static_cast<std::size_t>(outputs + i * constants), count = static_cast<std::size_t>(constants);
    const std::span<float> of_network = std::span(room.outputs_here).subspan(place, count);
    if (constants > 0)
      copy_out(of_network.data(), launch.weights + i * launch.weight_stride + shape_.constant, of_network.size_bytes());
    const double value = batch.score->score(batch.first_particle + i / batch.weight_samples, 0,
                                            {room.outputs_here.data() + i * n * columns, n, columns}, of_network,
                                            {room.slopes_here.data() + i * n * columns, n, columns},
                                            std::span(room.slopes_here).subspan(place, count));
    if (wanted.wants_value()) wanted.value[i] = launch.scale * value;
  }
  if (!wanted.wants_gradient()) return;
  for (float& slope : room.slopes_here) slope *= static_cast<float>(launch.scale);
  launch.rows.slopes = reserve(room.slopes, std::ssize(room.slopes_here), device_);
  launch.rows.constant_slopes = launch.rows.slopes + outputs;
  driver_.upload(device_.index, room.slopes.view().data, room.slopes_here.data(),
                 room.slopes_here.size() * sizeof(float));
}

void DeviceMlp::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                        MatrixView<float> outputs) {
  check_inputs(spec_, inputs);
  check_rows("weights", weights.values, layout_.size());
  const std::int64_t rows = weights.values.rows * inputs.rows();
  STEIN_CHECK(outputs.rows == rows && outputs.columns == spec_.outputs,
              "network: outputs must be [{}, {}], got [{}, {}]", rows, spec_.outputs, outputs.rows, outputs.columns);
  if (rows == 0) return;
  const bool layered = by_layers(false);
  const MlpTiling tiling = tiling_of(layered, inputs, inputs.rows(), false);
  const auto room = borrow_room();
  room->packed.assign(inputs);
  MlpLaunch launch = launch_of(weights.values, tiling, upload(*room));
  if (layered) launch.layers = layers_of(*room, launch.networks, launch.rows);
  launch.outputs = reserve(room->outputs, rows * spec_.outputs, device_);
  driver_.pass(device_.index, launch);
  const auto count = static_cast<std::size_t>(rows * spec_.outputs);
  if (outputs.stride == outputs.columns) return copy_out(outputs.data, launch.outputs, count * sizeof(float));
  room->outputs_here.resize(count);
  copy_out(room->outputs_here.data(), launch.outputs, count * sizeof(float));
  for (std::int64_t i = 0; i < rows; ++i)
    std::copy_n(room->outputs_here.begin() + i * spec_.outputs, spec_.outputs, outputs.row(i).begin());
}

}  // namespace stein::inference
