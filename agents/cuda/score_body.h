// What the kernels of scores do with one row, and how slopes of log sds are added up: 128 rows at a time, then these
// sums in order.
#pragma once

#include <stein/agents/control/score_launch.h>

namespace stein::agents::cuda {

/// The slopes of one row of one network; `index` counts rows, network by network.
struct ScorePolicyRow {
  PolicyScoreLaunch launch;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const inference::DeviceOutputs& all = launch.outputs;
    const std::int64_t network = index / all.rows, place = launch.place(index), constants = launch.law.constants();
    const policies::StridedNumbers outputs{all.outputs + index * all.columns};
    const float* const shared = all.constants + (constants > 0 ? network * all.constant_stride : 0);
    const float* const action = launch.actions + place * launch.law.law.actions;
    float log_ratio = 0;
    if (launch.surrogate.clips()) {
      log_ratio = launch.law.log_density(outputs, shared, action) - launch.log_density[place];
      if (launch.log_ratio != nullptr) launch.log_ratio[place] = log_ratio;
    }
    const float scale = launch.scale[place];
    float* const slopes = all.slopes + index * all.columns;
    launch.law.gradient(outputs, shared, action, launch.surrogate.weight(launch.advantages[place], scale, log_ratio),
                        scale * launch.entropy_weight, slopes, launch.of_log_sd + index * constants);
    for (std::int64_t k = 0; k < all.columns; ++k) slopes[k] *= all.scale;
  }
};

/// The slope of one log sd over a few rows of a network; `index` counts constants, chunk by chunk, network by network.
struct AddLogSdRows {
  PolicyScoreLaunch launch;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t constants = launch.law.constants(), rows = launch.outputs.rows, a = index % constants,
                       chunk = index / constants % launch.chunks(), network = index / constants / launch.chunks();
    const std::int64_t first = chunk * PolicyScoreLaunch::summed_rows, after = first + PolicyScoreLaunch::summed_rows,
                       end = after < rows ? after : rows;
    double sum = 0;
    for (std::int64_t row = network * rows + first; row < network * rows + end; ++row)
      sum += static_cast<double>(launch.of_log_sd[row * constants + a]);
    launch.sums[index] = sum;
  }
};

/// The slope of one constant of a network; `index` counts constants, network by network.
struct AddLogSdChunks {
  PolicyScoreLaunch launch;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const inference::DeviceOutputs& all = launch.outputs;
    const std::int64_t constants = launch.law.constants(), a = index % constants, network = index / constants;
    const double* const sums = launch.sums + network * launch.chunks() * constants + a;
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < launch.chunks(); ++chunk) sum += sums[chunk * constants];
    all.constant_slopes[index] = all.scale * policies::inward_slope(all.constants[network * all.constant_stride + a],
                                                                    launch.law.law.start, static_cast<float>(sum));
  }
};

/// The slope of one prediction; `index` counts rows, network by network.
struct ScoreValueRow {
  ValueScoreLaunch launch;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const inference::DeviceOutputs& all = launch.outputs;
    const std::int64_t place = all.first_particle * all.rows + index;
    all.slopes[index] = all.scale * (launch.scale[place] * (launch.targets[place] - all.outputs[index]));
  }
};

/// All slopes of a policy's score in order.
/// @tparam Work  what runs kernels: each(count, body) is body(0), …, body(count − 1)
template <class Work>
void score_policies(const PolicyScoreLaunch& launch, Work& work) {
  const inference::DeviceOutputs& all = launch.outputs;
  const std::int64_t constants = launch.law.constants();
  work.each(all.networks * all.rows, ScorePolicyRow{launch});
  if (constants == 0) return;
  work.each(all.networks * launch.chunks() * constants, AddLogSdRows{launch});
  work.each(all.networks * constants, AddLogSdChunks{launch});
}

}  // namespace stein::agents::cuda
