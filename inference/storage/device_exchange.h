// Memory of devices that ranks bring to one another without their hosts: what the library of a device brings.
#pragma once

#include <stein/core/registry.h>
#include <stein/distributed/communicator.h>
#include <stein/inference/storage/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stein::inference {

/// Memory on the device of this rank that one rank has written and every rank has room for. Size and owner are the same
/// on all ranks, the address is each one's own.
struct OwnedBytes {
  void* data = nullptr;
  std::size_t size = 0;
  int owner = 0;  ///< the rank whose bytes come to all
};

/// Bytes that one rank brings to another. Size and ranks are the same on all ranks; the address is each one's own, and
/// counts on these two only.
struct SentBytes {
  void* data = nullptr;
  std::size_t size = 0;
  int from = 0, to = 0;  ///< two ranks
};

/// Ranks, each with a device of its own, that reach one another's devices. What fails on one rank is its own error,
/// through which the others wait: it has to end them all.
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;
  /// Collective, with as many blocks in the same order on all ranks: every rank has the bytes of each block's owner. It
  /// comes after all that was put on the device before, and before all that is put there later; the host need not wait.
  /// Throws Error(io) with the device's reason.
  virtual void all_gather(std::span<const OwnedBytes> blocks) = 0;
  /// The same of blocks that go to one rank each.
  virtual void send(std::span<const SentBytes> blocks) = 0;
};

/// How ranks with one kind of device find one another; `index` is which of its kind.
struct DeviceExchangeDriver {
  std::string_view name;  ///< "cuda"
  /// A name of the device that no other device of any machine has.
  std::string (*identity)(std::int32_t index);
  /// What the root tells all ranks so that they find it.
  std::string (*invitation)();
  /// Collective: waits for all `size` ranks.
  std::unique_ptr<DeviceExchange> (*join)(std::int32_t index, int rank, int size, const std::string& invitation);
};

/// Drivers by the name of their kind of device; empty until their library is loaded.
Registry<const DeviceExchangeDriver*>& device_exchange_drivers();

/// Collective, each rank with its device: the exchange of their devices, where all are GPUs, each rank has one of its
/// own, and NCCL is there on all. Null where not: numbers then go through the hosts.
std::unique_ptr<DeviceExchange> join_devices(distributed::Communicator& ranks, Device device);
/// The same by a given driver; null: this rank has none.
std::unique_ptr<DeviceExchange> join_devices(distributed::Communicator& ranks, const DeviceExchangeDriver* driver,
                                             std::int32_t index);

}  // namespace stein::inference
