#include <stein/core/component.h>
#include <stein/inference/storage/device_block.h>
#include <stein/inference/storage/device_memory.h>

#include <algorithm>

namespace stein::inference {
namespace {

std::int32_t& process_on_machine() {
  static std::int32_t process = 0;
  return process;
}

}  // namespace

Registry<DeviceMemory>& device_memories() {
  static Registry<DeviceMemory> registry("memory of a device");
  return registry;
}

const DeviceMemory& device_memory(Device::Kind kind) {
  STEIN_CHECK(kind != Device::Kind::host, "memory of a device: the host has none");
  if (kind == Device::Kind::fenced) return device_memories().at("fenced");
  static const DeviceMemory& cuda = (load_component("cuda"), device_memories().at("cuda"));
  return cuda;
}

Device device_of_process(Device::Kind kind, std::int32_t process) {
  if (process == 0) return {.kind = kind};
  return {.kind = kind, .index = process % std::max(1, device_memory(kind).count())};
}

void set_process_on_machine(std::int32_t process) {
  process_on_machine() = process;
}

Device own_device(std::string_view text) {
  const Device device = parse_device(text);
  const bool chosen = device.kind == Device::Kind::host || text.find(':') != std::string_view::npos;
  return chosen ? device : device_of_process(device.kind, process_on_machine());
}

void check_present(Device device) {
  static_cast<void>(DeviceUse(device));
}

bool lies_on(Device device, const void* memory) {
  return device.kind == Device::Kind::host || device_memory(device.kind).holds(device.index, memory);
}

DeviceUse::DeviceUse(Device device) {
  if (device.kind == Device::Kind::host) return;
  const DeviceMemory& memory = device_memory(device.kind);
  entered_ = memory.enter(device.index);
  memory_ = &memory;
}

DeviceUse::~DeviceUse() {
  if (memory_ != nullptr) memory_->leave(entered_);
}

DeviceBlock::DeviceBlock(Device device, std::size_t bytes)
    : device_(device),
      bytes_(bytes),
      data_(bytes == 0 ? nullptr : device_memory(device.kind).allocate(device.index, bytes)) {}

DeviceBlock::DeviceBlock(const DeviceBlock& other) : DeviceBlock(other.device_, other.bytes_) {
  if (bytes_ != 0) device_memory(device_.kind).copy_within(device_.index, data_, other.data_, bytes_);
}

// What allocated it is there to release it.
DeviceBlock::~DeviceBlock() {  // NOLINT(bugprone-exception-escape)
  if (data_ != nullptr) device_memory(device_.kind).release(device_.index, data_, bytes_);
}

void DeviceBlock::copy_in(const void* host) {
  if (bytes_ != 0) device_memory(device_.kind).copy_in(device_.index, data_, host, bytes_);
}

void DeviceBlock::copy_out(void* host) const {
  if (bytes_ != 0) device_memory(device_.kind).copy_out(device_.index, host, data_, bytes_);
}

void DeviceBlock::fill(std::size_t first, std::size_t count, float value) {
  if (count != 0) device_memory(device_.kind).fill(device_.index, static_cast<float*>(data_) + first, value, count);
}

}  // namespace stein::inference
