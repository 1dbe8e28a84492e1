#include <stein/inference/models/packed_batch.h>

#include <algorithm>

namespace stein::inference {
namespace {

template <class T>
const T* at(const std::byte* bytes, std::ptrdiff_t place) {
  return place < 0 ? nullptr : reinterpret_cast<const T*>(bytes + place);
}

/// Sorts the rows of a tile by the inputs that they have a one at, each input's in their order.
/// @param ones     [rows of the tile, A]
/// @param start    [inputs + 1]
/// @param members  of all tiles; those of this one begin at `next`
void sort_members(MatrixView<const std::int32_t> ones, int inputs, std::int32_t next, std::int32_t* start,
                  std::int32_t* members) {
  std::fill_n(start, inputs + 1, 0);
  for (std::int64_t i = 0; i < ones.rows; ++i)
    for (const std::int32_t input : ones.row(i)) ++start[input];
  for (int input = 0; input <= inputs; ++input) next = start[input] += next;
  // Each start is now the end of its input; filling from the last row on brings it back to the beginning.
  for (std::int64_t i = ones.rows; i-- > 0;)
    for (const std::int32_t input : ones.row(i)) members[--start[input]] = static_cast<std::int32_t>(i);
}

}  // namespace

template <class T>
T* PackedBatch::add(std::int64_t count, std::ptrdiff_t& place) {
  constexpr std::size_t boundary = 16;
  place = static_cast<std::ptrdiff_t>(used_);
  const std::size_t size = static_cast<std::size_t>(count) * sizeof(T);
  used_ += (size + boundary - 1) / boundary * boundary;
  if (bytes_.size() < used_) bytes_.resize(used_);
  return reinterpret_cast<T*>(bytes_.data() + place);
}

void PackedBatch::clear() {
  used_ = 0;
  dense_ = ones_ = starts_ = members_ = targets_ = outputs_ = weights_ = nowhere;
  rows_ = {};
}

void PackedBatch::add_inputs(const Inputs<float>& inputs, MatrixView<const float> mask, std::int64_t mask_rows) {
  if (inputs.one_hot()) {
    rows_.ones_in_row = static_cast<int>(inputs.ones.columns);
    auto* to = add<std::int32_t>(inputs.ones.rows * inputs.ones.columns, ones_);
    for (std::int64_t i = 0; i < inputs.ones.rows; ++i) to = std::ranges::copy(inputs.ones.row(i), to).out;
    return;
  }
  float* to = add<float>(inputs.dense.rows * inputs.dense.columns, dense_);
  for (std::int64_t i = 0; i < inputs.dense.rows; ++i) {
    float* const row = to;
    to = std::ranges::copy(inputs.dense.row(i), to).out;
    if (mask.data == nullptr) continue;
    for (std::int64_t k = 0; k < mask.columns; ++k) row[k] *= mask(i % mask_rows, k);
  }
}

void PackedBatch::add_members(MatrixView<const std::int32_t> ones, int inputs, std::int64_t rows, int tile_rows) {
  const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows, groups = ones.rows / rows;
  add<std::int32_t>(groups * tiles * (inputs + 1), starts_);
  auto* const members = add<std::int32_t>(ones.rows * ones.columns, members_);
  auto* start = reinterpret_cast<std::int32_t*>(bytes_.data() + starts_);  // `add` may have moved it
  std::int64_t next = 0;
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t first = 0; first < rows; first += tile_rows, start += inputs + 1) {
      const MatrixView<const std::int32_t> tile =
          ones.block(group * rows + first, std::min<std::int64_t>(tile_rows, rows - first));
      sort_members(tile, inputs, static_cast<std::int32_t>(next), start, members);
      next += tile.rows * tile.columns;
    }
}

void PackedBatch::assign(const MlpShape& shape, const Batch<float>& batch, std::int64_t particles,
                         const MlpTiling& tiling, bool members) {
  clear();
  add_inputs(batch.inputs, batch.input_mask, batch.rows);
  rows_.rows = batch.rows;
  rows_.own_inputs = batch.inputs_per_particle && particles > 1;
  rows_.own_targets = batch.targets_per_particle && particles > 1;
  rows_.own_weights = batch.weights_per_particle && particles > 1;
  if (members && batch.inputs.one_hot()) add_members(batch.inputs.ones, shape.inputs(), batch.rows, tiling.rows);
  if (batch.score != nullptr) return;  // it has the place of targets, outputs and weights
  rows_.target_columns = static_cast<int>(batch.targets.columns);
  float* targets = add<float>(batch.targets.rows * batch.targets.columns, targets_);
  for (std::int64_t i = 0; i < batch.targets.rows; ++i) targets = std::ranges::copy(batch.targets.row(i), targets).out;
  if (!batch.outputs.empty()) std::ranges::copy(batch.outputs, add<std::int32_t>(std::ssize(batch.outputs), outputs_));
  if (!batch.row_weights.empty())
    std::ranges::copy(batch.row_weights, add<float>(std::ssize(batch.row_weights), weights_));
}

void PackedBatch::assign(const Inputs<float>& inputs) {
  clear();
  rows_.rows = inputs.rows();
  add_inputs(inputs, {}, 1);
}

MlpRows PackedBatch::rows_at(const std::byte* bytes) const {
  MlpRows rows = rows_;
  rows.dense = at<float>(bytes, dense_);
  rows.ones = at<std::int32_t>(bytes, ones_);
  rows.starts = at<std::int32_t>(bytes, starts_);
  rows.members = at<std::int32_t>(bytes, members_);
  rows.targets = at<float>(bytes, targets_);
  rows.outputs = at<std::int32_t>(bytes, outputs_);
  rows.weights = at<float>(bytes, weights_);
  return rows;
}

}  // namespace stein::inference
