// Work that ranks share: each does some parts of it, and what they left comes to all.
#pragma once

#include <stein/core/parallel.h>
#include <stein/distributed/communicator.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace stein::distributed {

/// Parts first … end − 1 of some work.
struct PartRange {
  std::int64_t first, end;
};

/// Those of `count` parts that fall to a rank of so many: consecutive ones, as many for each rank as can be.
constexpr PartRange parts_of(std::int64_t rank, std::int64_t ranks, std::int64_t count) {
  return {rank * count / ranks, (rank + 1) * count / ranks};
}
/// Those that fall to this rank.
PartRange parts_of(const Communicator& ranks, std::int64_t count);

/// Collective. Does `work` for the parts of this rank, then brings what they left to all ranks, so that afterwards
/// every rank is as if it had done all parts. What a part leaves must not depend on which rank does it, nor on the
/// others.
/// @param work   makes no collective call
/// @param write  appends what a part left to a message
/// @param read   takes it off the front of a message on a rank that has not done the part
/// @throws AgreedError on every rank, that of the lowest, if `work` threw on any; a single process throws what it
/// throws
void share_work(Communicator& ranks, std::int64_t count, const std::function<void(PartRange)>& work,
                const std::function<void(std::int64_t part, std::string& message)>& write,
                const std::function<void(std::int64_t part, std::string_view& message)>& read);

/// Appends numbers to a message.
template <class Number>
void write_numbers(std::span<Number> numbers, std::string& message) {
  static_assert(std::is_trivially_copyable_v<Number>);
  message.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}
/// Takes as many numbers off the front of a message as were written.
template <class Number>
void read_numbers(std::string_view& message, std::span<Number> numbers) {
  std::memcpy(numbers.data(), message.data(), numbers.size_bytes());
  message.remove_prefix(numbers.size_bytes());
}

/// The same for a list (std::vector, std::string) whose length the reader does not know.
template <class List>
void write_list(const List& list, std::string& message) {
  const std::uint64_t size = list.size();
  write_numbers(std::span(&size, 1), message);
  write_numbers(std::span(list), message);
}
template <class List>
void read_list(std::string_view& message, List& list) {
  std::uint64_t size = 0;
  read_numbers(message, std::span(&size, 1));
  list.resize(size);
  read_numbers(message, std::span(list));
}

/// `parallel_for` over parts that leave numbers, as many on every rank: part i the spans numbers(i)….
template <class Work, class... Numbers>
void shared_for(Communicator& ranks, std::int64_t count, const Work& work, const Numbers&... numbers) {
  if (ranks.size() == 1) return parallel_for(count, work);
  share_work(
      ranks, count,
      [&](PartRange own) { parallel_for(own.end - own.first, [&](std::int64_t k) { work(own.first + k); }); },
      [&](std::int64_t part, std::string& message) { (write_numbers(numbers(part), message), ...); },
      [&](std::int64_t part, std::string_view& message) { (read_numbers(message, numbers(part)), ...); });
}

}  // namespace stein::distributed
