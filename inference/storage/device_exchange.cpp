#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/distributed/agree.h>
#include <stein/inference/storage/device_exchange.h>

#include <set>
#include <vector>

namespace stein::inference {
namespace {

/// That of GPUs; null where Stein was built without NCCL, or where NCCL is not installed.
const DeviceExchangeDriver* gpu_exchange_driver() {
  constexpr std::string_view library = "cuda_ranks";
  if (!has_component(library)) return nullptr;
  try {
    load_component(library);
  } catch (const Error&) {  // NCCL is large, and not everywhere
    return nullptr;
  }
  return device_exchange_drivers().at("cuda");
}

/// Collective. Whether all ranks have a device, and no two the same.
bool each_has_its_own(distributed::Communicator& ranks, const std::string& identity) {
  const std::vector<std::string> all = ranks.all_gather(identity);
  const std::set<std::string> different(all.begin(), all.end());
  return different.size() == all.size() && !different.contains("");
}

}  // namespace

Registry<const DeviceExchangeDriver*>& device_exchange_drivers() {
  static Registry<const DeviceExchangeDriver*> registry("exchange of devices");
  return registry;
}

std::unique_ptr<DeviceExchange> join_devices(distributed::Communicator& ranks, Device device) {
  if (ranks.size() == 1 || device.kind != Device::Kind::cuda)
    return nullptr;  // the kind is an option, the same for all
  return join_devices(ranks, gpu_exchange_driver(), device.index);
}

std::unique_ptr<DeviceExchange> join_devices(distributed::Communicator& ranks, const DeviceExchangeDriver* driver,
                                             std::int32_t index) {
  std::string identity, invitation;
  distributed::agree(ranks, [&] { identity = driver == nullptr ? "" : driver->identity(index); });
  if (!each_has_its_own(ranks, identity)) return nullptr;
  distributed::agree(ranks, [&] {
    if (ranks.is_root()) invitation = driver->invitation();
  });
  return driver->join(index, ranks.rank(), ranks.size(), ranks.broadcast(invitation));
}

}  // namespace stein::inference
