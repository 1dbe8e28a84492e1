#include <stein/agents/control/device_row.h>
#include <stein/inference/models/mlp_driver.h>
#include <stein/inference/storage/copy_rows.h>

namespace stein::agents {

float* DeviceRow::reserve(std::int64_t count) {
  if (count == 0) return nullptr;
  if (row_.columns() < count) row_ = inference::Matrix<float>(1, count, device_);
  return row_.view().data;
}

const float* DeviceRow::take(std::span<const float> numbers) {
  float* const place = reserve(std::ssize(numbers));
  if (place != nullptr)
    inference::mlp_driver(device_).upload(device_.index, place, numbers.data(), numbers.size_bytes());
  return place;
}

void DeviceRow::give(std::span<float> numbers) const {
  if (numbers.empty()) return;
  inference::copy_home<float>(row_.row(0).first(numbers.size()), numbers, device_);
}

}  // namespace stein::agents
