#include <stein/inference/models/part_exchange.h>
#include <stein/inference/storage/device_memory.h>

#include <chrono>
#include <string>
#include <string_view>

namespace stein::inference {
namespace {

/// Appends rows to a message, or takes them off its front; those of a device by its memory's functions.
template <class Scalar>
void write_rows(const PlacedRows<Scalar>& placed, std::string& message) {
  for (std::int64_t i = 0; i < placed.rows.rows; ++i) {
    const std::span<Scalar> row = placed.rows.row(i);
    if (placed.device.kind == Device::Kind::host) {
      distributed::write_numbers(row, message);
      continue;
    }
    const std::size_t begin = message.size();
    message.resize(begin + row.size_bytes());
    device_memory(placed.device.kind)
        .copy_out(placed.device.index, message.data() + begin, row.data(), row.size_bytes());
  }
}

template <class Scalar>
void read_rows(std::string_view& message, const PlacedRows<Scalar>& placed) {
  for (std::int64_t i = 0; i < placed.rows.rows; ++i) {
    const std::span<Scalar> row = placed.rows.row(i);
    if (placed.device.kind == Device::Kind::host) {
      distributed::read_numbers(message, row);
      continue;
    }
    device_memory(placed.device.kind).copy_in(placed.device.index, row.data(), message.data(), row.size_bytes());
    message.remove_prefix(row.size_bytes());
  }
}

}  // namespace

template <class Scalar>
void PartExchange::share(std::int64_t count, const std::function<void(distributed::PartRange)>& work,
                         const std::function<PartNumbers<Scalar>(std::int64_t part)>& left) {
  const auto write = [&](std::int64_t part, std::string& message) {
    const PartNumbers<Scalar> numbers = left(part);
    distributed::write_numbers(numbers.values, message);
    for (const PlacedRows<Scalar>& tensor : numbers.tensors)
      if (!goes_directly(tensor.device)) write_rows(tensor, message);
  };
  const auto read = [&](std::int64_t part, std::string_view& message) {
    const PartNumbers<Scalar> numbers = left(part);
    distributed::read_numbers(message, numbers.values);
    for (const PlacedRows<Scalar>& tensor : numbers.tensors)
      if (!goes_directly(tensor.device)) read_rows(message, tensor);
  };
  distributed::share_work(*ranks_, count, work, write, read);
  if (direct_ == nullptr) return;
  const auto began = std::chrono::steady_clock::now();
  const std::vector<OwnedBytes> blocks = direct_blocks(count, left);
  direct_->all_gather(blocks);
  distributed::SharingCost& cost = ranks_->sharing();
  cost.exchange_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const OwnedBytes& block : blocks)
    if (block.owner != ranks_->rank()) cost.bytes += static_cast<std::int64_t>(block.size);
}

template <class Scalar>
std::vector<OwnedBytes> PartExchange::direct_blocks(
    std::int64_t count, const std::function<PartNumbers<Scalar>(std::int64_t part)>& left) const {
  std::vector<OwnedBytes> blocks;
  for (int owner = 0; owner < ranks_->size(); ++owner) {
    const distributed::PartRange theirs = distributed::parts_of(owner, ranks_->size(), count);
    for (std::int64_t part = theirs.first; part < theirs.end; ++part)
      for (const PlacedRows<Scalar>& tensor : left(part).tensors)
        for (std::int64_t i = 0; goes_directly(tensor.device) && i < tensor.rows.rows; ++i)
          blocks.push_back({tensor.rows.row(i).data(), tensor.rows.row(i).size_bytes(), owner});
  }
  return blocks;
}

template void PartExchange::share<float>(std::int64_t, const std::function<void(distributed::PartRange)>&,
                                         const std::function<PartNumbers<float>(std::int64_t)>&);
template void PartExchange::share<double>(std::int64_t, const std::function<void(distributed::PartRange)>&,
                                          const std::function<PartNumbers<double>(std::int64_t)>&);

}  // namespace stein::inference
