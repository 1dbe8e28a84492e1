#include <stein/inference/models/part_exchange.h>
#include <stein/inference/storage/device_memory.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace stein::inference {
namespace {

using Clock = std::chrono::steady_clock;

/// Appends numbers to a message, or takes them off its front; those of a device by its memory's functions.
template <class Scalar>
void write_placed(std::span<Scalar> numbers, Device device, std::string& message) {
  if (device.kind == Device::Kind::host) return distributed::write_numbers(numbers, message);
  const std::size_t begin = message.size();
  message.resize(begin + numbers.size_bytes());
  device_memory(device.kind).copy_out(device.index, message.data() + begin, numbers.data(), numbers.size_bytes());
}

template <class Scalar>
void read_placed(std::string_view& message, std::span<Scalar> numbers, Device device) {
  if (device.kind == Device::Kind::host) return distributed::read_numbers(message, numbers);
  device_memory(device.kind).copy_in(device.index, numbers.data(), message.data(), numbers.size_bytes());
  message.remove_prefix(numbers.size_bytes());
}

template <class Scalar>
void write_rows(const PlacedRows<Scalar>& placed, std::string& message) {
  for (std::int64_t i = 0; i < placed.rows.rows; ++i) write_placed(placed.rows.row(i), placed.device, message);
}

template <class Scalar>
void read_rows(std::string_view& message, const PlacedRows<Scalar>& placed) {
  for (std::int64_t i = 0; i < placed.rows.rows; ++i) read_placed(message, placed.rows.row(i), placed.device);
}

/// Those of a row that fall to a rank: whole vectors, as nearly as many as for every other.
template <class Scalar>
std::span<Scalar> slice_of(std::span<Scalar> row, int rank, int ranks) {
  constexpr std::int64_t vector = 16;
  const auto size = std::ssize(row), vectors = (size + vector - 1) / vector;
  const auto [first, end] = distributed::parts_of(rank, ranks, vectors);
  const std::int64_t begin = std::min(first * vector, size);
  return row.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(std::min(end * vector, size) - begin));
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
  const auto began = Clock::now();
  const std::vector<OwnedBytes> blocks = direct_blocks(count, left);
  direct_->all_gather(blocks);
  distributed::SharingCost& cost = ranks_->sharing();
  cost.exchange_seconds += std::chrono::duration<double>(Clock::now() - began).count();
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

template <class Scalar>
void PartExchange::share_sums(std::int64_t sums, std::int64_t terms,
                              const std::function<void(distributed::PartRange)>& work,
                              const std::function<PartNumbers<Scalar>(std::int64_t part)>& left,
                              const std::function<void(std::span<const Scalar> term, std::span<Scalar> sum)>& add) {
  const std::int64_t parts = sums * terms;
  share<Scalar>(parts, work, [&](std::int64_t part) {
    PartNumbers<Scalar> numbers = left(part);
    numbers.tensors[0] = {};
    return numbers;
  });
  if (parts == 0 || left(0).tensors[0].rows.empty()) return;
  const SliceOf<Scalar> slice = [&](std::int64_t part, int rank) {
    const PlacedRows<Scalar> term = left(part).tensors[0];
    return Slice<Scalar>{slice_of(term.rows.row(0), rank, ranks_->size()), term.device};
  };
  const int own = ranks_->rank();
  if (ranks_->size() > 1) scatter(parts, slice);
  std::vector<std::int64_t> found;
  for (std::int64_t first = 0; first < parts; first += terms) {
    for (std::int64_t t = 1; t < terms; ++t) add(slice(first + t, own).numbers, slice(first, own).numbers);
    found.push_back(first);
  }
  if (ranks_->size() > 1) gather<Scalar>(found, slice);
}

template <class Scalar>
void PartExchange::scatter(std::int64_t parts, const SliceOf<Scalar>& slice) {
  const auto began = Clock::now();
  distributed::SharingCost& cost = ranks_->sharing();
  const int own = ranks_->rank(), size = ranks_->size();
  thread_local std::vector<std::string> to, from;  // kept, as new memory costs more than what is written to it
  to.resize(static_cast<std::size_t>(size));
  for (std::string& message : to) message.clear();
  std::vector<SentBytes> blocks;
  for (int owner = 0; owner < size; ++owner) {
    const distributed::PartRange theirs = distributed::parts_of(owner, size, parts);
    for (std::int64_t part = theirs.first; part < theirs.end; ++part)
      for (int rank = 0; rank < size; ++rank) {
        const auto [numbers, device] = slice(part, rank);
        if (rank == owner || numbers.empty()) continue;
        if (rank == own) cost.bytes += static_cast<std::int64_t>(numbers.size_bytes());
        if (goes_directly(device))
          blocks.push_back({numbers.data(), numbers.size_bytes(), owner, rank});
        else if (owner == own)
          write_placed(numbers, device, to[static_cast<std::size_t>(rank)]);
      }
  }
  if (direct_ != nullptr) direct_->send(blocks);
  if (blocks.empty()) {
    ranks_->all_to_all(to, from);
    for (int owner = 0; owner < size; ++owner) {
      if (owner == own) continue;
      const distributed::PartRange theirs = distributed::parts_of(owner, size, parts);
      std::string_view rest = from[static_cast<std::size_t>(owner)];
      for (std::int64_t part = theirs.first; part < theirs.end; ++part) {
        const auto [numbers, device] = slice(part, own);
        read_placed(rest, numbers, device);
      }
    }
  }
  cost.exchange_seconds += std::chrono::duration<double>(Clock::now() - began).count();
}

template <class Scalar>
void PartExchange::gather(std::span<const std::int64_t> parts, const SliceOf<Scalar>& slice) {
  const auto began = Clock::now();
  distributed::SharingCost& cost = ranks_->sharing();
  thread_local std::string message;
  thread_local std::vector<std::string> messages;
  message.clear();
  std::vector<OwnedBytes> blocks;
  for (int rank = 0; rank < ranks_->size(); ++rank)
    for (const std::int64_t part : parts) {
      const auto [numbers, device] = slice(part, rank);
      if (numbers.empty()) continue;
      if (rank != ranks_->rank()) cost.bytes += static_cast<std::int64_t>(numbers.size_bytes());
      if (goes_directly(device))
        blocks.push_back({numbers.data(), numbers.size_bytes(), rank});
      else if (rank == ranks_->rank())
        write_placed(numbers, device, message);
    }
  if (direct_ != nullptr) direct_->all_gather(blocks);
  if (blocks.empty()) {
    ranks_->all_gather(message, messages);
    for (int rank = 0; rank < ranks_->size(); ++rank) {
      if (rank == ranks_->rank()) continue;
      std::string_view rest = messages[static_cast<std::size_t>(rank)];
      for (const std::int64_t part : parts) {
        const auto [numbers, device] = slice(part, rank);
        read_placed(rest, numbers, device);
      }
    }
  }
  cost.exchange_seconds += std::chrono::duration<double>(Clock::now() - began).count();
}

template void PartExchange::share<float>(std::int64_t, const std::function<void(distributed::PartRange)>&,
                                         const std::function<PartNumbers<float>(std::int64_t)>&);
template void PartExchange::share<double>(std::int64_t, const std::function<void(distributed::PartRange)>&,
                                          const std::function<PartNumbers<double>(std::int64_t)>&);
template void PartExchange::share_sums<float>(std::int64_t, std::int64_t,
                                              const std::function<void(distributed::PartRange)>&,
                                              const std::function<PartNumbers<float>(std::int64_t)>&,
                                              const std::function<void(std::span<const float>, std::span<float>)>&);
template void PartExchange::share_sums<double>(std::int64_t, std::int64_t,
                                               const std::function<void(distributed::PartRange)>&,
                                               const std::function<PartNumbers<double>(std::int64_t)>&,
                                               const std::function<void(std::span<const double>, std::span<double>)>&);

}  // namespace stein::inference
