// Work on a device that ranks share: each does some parts, and the numbers that they left come to all devices.
#pragma once

#include <stein/distributed/shared_work.h>
#include <stein/inference/storage/device_exchange.h>
#include <stein/inference/storage/matrix_view.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace stein::inference {

/// Rows of numbers, and where they lie.
template <class Scalar>
struct PlacedRows {
  MatrixView<Scalar> rows{};
  Device device{};
};

/// What a part of the work leaves, of the same shape on all ranks; what is empty it leaves not.
template <class Scalar>
struct PartNumbers {
  std::span<double> values{};                   ///< on the host
  std::array<PlacedRows<Scalar>, 2> tensors{};  ///< gradient and carried state
};

/// Ranks that bring one another the numbers of parts. There are two ways with the same bits: by way of the hosts, as
/// messages of the ranks, for any device; and from device to device. Values on the host always go by message.
class PartExchange {
 public:
  /// Nobody to share with.
  PartExchange() = default;
  /// @param device  where this rank computes
  /// @param direct  from device to device, of the same ranks; null: by way of the hosts
  PartExchange(distributed::Communicator& ranks, Device device, std::unique_ptr<DeviceExchange> direct)
      : ranks_(&ranks), device_(device), direct_(std::move(direct)) {}

  distributed::Communicator& ranks() const { return *ranks_; }
  /// Where this rank computes.
  Device device() const { return device_; }

  /// Collective. Does `work` for the parts of this rank, then brings what they left to all ranks, as
  /// distributed::share_work: every rank is afterwards as if it had done all parts.
  /// @param left  where a part leaves its numbers on this rank
  /// @throws distributed::AgreedError as share_work; Error(io), on one rank alone, where its device refuses
  template <class Scalar>
  void share(std::int64_t count, const std::function<void(distributed::PartRange)>& work,
             const std::function<PartNumbers<Scalar>(std::int64_t part)>& left);

  /// Collective. The same of parts whose first tensors, a row each, are terms of sums: parts s K, …, s K + K − 1 those
  /// of sum s, which stands in the place of the first one of them afterwards, on every rank; the others are of no use
  /// then. Each rank gets a slice of all terms, adds it in the order of the parts, and gives it to the others, so with
  /// K terms of Q numbers it receives some (K/R + 1) Q numbers on R ranks, not K Q.
  /// @param terms  K
  /// @param add    sum ← sum + term, number by number
  template <class Scalar>
  void share_sums(std::int64_t sums, std::int64_t terms, const std::function<void(distributed::PartRange)>& work,
                  const std::function<PartNumbers<Scalar>(std::int64_t part)>& left,
                  const std::function<void(std::span<const Scalar> term, std::span<Scalar> sum)>& add);

 private:
  /// The numbers of one row that fall to a rank, and where they lie.
  template <class Scalar>
  struct Slice {
    std::span<Scalar> numbers;
    Device device;
  };
  template <class Scalar>
  using SliceOf = std::function<Slice<Scalar>(std::int64_t part, int rank)>;
  /// Brings each rank its slices of all parts.
  template <class Scalar>
  void scatter(std::int64_t parts, const SliceOf<Scalar>& slice);
  /// Brings the slices that each rank has of these parts to all.
  template <class Scalar>
  void gather(std::span<const std::int64_t> parts, const SliceOf<Scalar>& slice);
  bool goes_directly(Device device) const { return direct_ != nullptr && device == device_; }
  /// The rows of all parts that go from device to device, in the order of the parts.
  template <class Scalar>
  std::vector<OwnedBytes> direct_blocks(std::int64_t count,
                                        const std::function<PartNumbers<Scalar>(std::int64_t part)>& left) const;

  distributed::Communicator* ranks_ = &distributed::single_process();
  Device device_{};
  std::unique_ptr<DeviceExchange> direct_;
};

}  // namespace stein::inference
