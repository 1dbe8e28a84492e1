#include <stein/agents/control/device_row.h>
#include <stein/agents/control/policy_objective.h>
#include <stein/agents/control/score_driver.h>
#include <stein/core/error.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stein::agents {
namespace {

using inference::Device;
using inference::MatrixView;

constexpr std::int64_t block = 128;  // rows whose weights are made at a time

}  // namespace

/// Rows of an update on a device, and room for what is made of them.
struct PolicyObjective::OnDevice {
  explicit OnDevice(Device at) : device(at), sums(1, 1, at) {}

  Device device;
  PolicyScoreLaunch launch{};
  DeviceRow actions{device}, advantages{device}, scale{device}, log_density{device}, log_ratio{device},
      of_log_sd{device};
  inference::Matrix<double> sums;
};

PolicyObjective::PolicyObjective(const policies::ActionDistribution& distribution, double entropy_weight,
                                 double clip_ratio, Device device)
    : distribution_(distribution),
      entropy_weight_(static_cast<float>(entropy_weight)),
      surrogate_{.clip_ratio = static_cast<float>(clip_ratio)} {
  STEIN_CHECK(clip_ratio >= 0, "policy objective: expected a clip ratio of at least 0, got {}", clip_ratio);
  if (device == Device{}) return;
  on_device_ = std::make_unique<OnDevice>(device);
  on_device_->launch.law = {distribution.row_draw()};
  on_device_->launch.surrogate = surrogate_;
  on_device_->launch.entropy_weight = entropy_weight_;
}

PolicyObjective::PolicyObjective(PolicyObjective&&) noexcept = default;
PolicyObjective::~PolicyObjective() = default;

void PolicyObjective::set_rows(const Rows& rows) {
  rows_ = rows;
  if (!on_device_) return;
  OnDevice& there = *on_device_;
  const MatrixView<const float> actions = rows.actions;
  STEIN_CHECK(actions.stride == actions.columns, "policy objective: expected actions without gaps for a device");
  const std::int64_t all = actions.rows, constants = there.launch.law.constants();
  there.launch.actions = there.actions.take({actions.data, static_cast<std::size_t>(all * actions.columns)});
  there.launch.advantages = there.advantages.take(rows.advantages);
  there.launch.scale = there.scale.take(rows.scale);
  if (surrogate_.clips()) there.launch.log_density = there.log_density.take(rows.log_density);
  there.launch.log_ratio = there.log_ratio.reserve(surrogate_.clips() ? std::ssize(rows.log_ratio) : 0);
  there.launch.of_log_sd = there.of_log_sd.reserve(all * constants);
  there.launch.outputs.rows = rows.rows;  // which chunks depend on
  const std::int64_t sums = all / std::max<std::int64_t>(rows.rows, 1) * there.launch.chunks() * constants;
  if (there.sums.columns() < sums) there.sums = inference::Matrix<double>(1, sums, there.device);
  there.launch.sums = there.sums.view().data;
}

void PolicyObjective::wait() const {
  if (on_device_ && surrogate_.clips()) on_device_->log_ratio.give(rows_.log_ratio);
}

bool PolicyObjective::made_on(Device device) const {
  return on_device_ && on_device_->device == device;
}

void PolicyObjective::score_on(Device device, const inference::DeviceOutputs& outputs) const {
  PolicyScoreLaunch launch = on_device_->launch;
  launch.outputs = outputs;
  score_driver(device).policies(device.index, launch);
}

double PolicyObjective::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                              std::span<const float> constants, MatrixView<float> gradient,
                              std::span<float> constant_gradient) const {
  std::array<float, block> density, weight, entropy;
  for (std::int64_t begin = 0; begin < outputs.rows; begin += block) {
    const std::int64_t count = std::min(block, outputs.rows - begin);
    const auto n = static_cast<std::size_t>(count);
    const std::int64_t place = particle * rows_.rows + first + begin;
    const policies::ActionDistribution::Parameters parameters{outputs.block(begin, count), constants};
    const MatrixView<const float> actions = rows_.actions.block(place, count);
    if (surrogate_.clips()) distribution_.log_density(parameters, actions, {density.data(), n});
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(place) + i;
      const float scale = rows_.scale[at];
      float log_ratio = 0;
      if (surrogate_.clips()) {
        log_ratio = density[i] - rows_.log_density[at];
        if (!rows_.log_ratio.empty()) rows_.log_ratio[at] = log_ratio;
      }
      entropy[i] = scale * entropy_weight_;
      weight[i] = surrogate_.weight(rows_.advantages[at], scale, log_ratio);
    }
    distribution_.gradient(parameters, actions, {weight.data(), n}, {entropy.data(), n}, gradient.block(begin, count),
                           constant_gradient);
  }
  return 0;
}

/// Rows of an update on a device.
struct ValueObjective::OnDevice {
  explicit OnDevice(Device at) : device(at) {}

  Device device;
  ValueScoreLaunch launch{};
  DeviceRow targets{device}, scale{device};
};

ValueObjective::ValueObjective(Device device) {
  if (device != Device{}) on_device_ = std::make_unique<OnDevice>(device);
}

ValueObjective::~ValueObjective() = default;

void ValueObjective::set_rows(const Rows& rows) {
  rows_ = rows;
  if (!on_device_) return;
  on_device_->launch.targets = on_device_->targets.take(rows.targets);
  on_device_->launch.scale = on_device_->scale.take(rows.scale);
}

bool ValueObjective::made_on(Device device) const {
  return on_device_ && on_device_->device == device;
}

void ValueObjective::score_on(Device device, const inference::DeviceOutputs& outputs) const {
  ValueScoreLaunch launch = on_device_->launch;
  launch.outputs = outputs;
  score_driver(device).values(device.index, launch);
}

double ValueObjective::score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
                             std::span<const float>, MatrixView<float> gradient, std::span<float>) const {
  double sum = 0;
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    const auto at = static_cast<std::size_t>(particle * rows_.rows + first + i);
    const float error = rows_.targets[at] - outputs(i, 0);
    gradient(i, 0) = rows_.scale[at] * error;
    sum -= 0.5 * double{rows_.scale[at]} * double{error} * double{error};
  }
  return sum;
}

}  // namespace stein::agents
