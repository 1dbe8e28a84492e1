#include <stein/distributed/exchange.h>
#include <stein/distributed/failure_message.h>

#include <chrono>

namespace stein::distributed {
namespace {

using Clock = std::chrono::steady_clock;

/// The last byte of a message.
enum class Outcome : char { done = 0, failed = 1 };

}  // namespace

void exchange(Communicator& ranks, const std::optional<Failure>& own, std::string& bytes,
              std::vector<std::string>& all) {
  const auto began = Clock::now();
  if (own) bytes = to_message(*own);
  bytes.push_back(static_cast<char>(own ? Outcome::failed : Outcome::done));
  ranks.all_gather(bytes, all);
  SharingCost& cost = ranks.sharing();
  std::optional<Failure> first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::string& message = all[rank];
    const auto outcome = static_cast<Outcome>(message.back());
    message.pop_back();
    if (static_cast<int>(rank) != ranks.rank()) cost.bytes += std::ssize(message);
    if (outcome == Outcome::done) continue;
    if (Failure failure = failure_in(message); !first || failure.place < first->place) first = std::move(failure);
  }
  cost.exchange_seconds += std::chrono::duration<double>(Clock::now() - began).count();
  ++cost.exchanges;
  if (first) throw AgreedError(first->kind, first->sentence);
}

void exchange_parts(Communicator& ranks, std::int64_t count, const std::optional<Failure>& own,
                    const std::function<void(std::int64_t part, std::string& message)>& write,
                    const std::function<void(std::int64_t part, std::string_view& message)>& read) {
  thread_local std::string message;  // kept, as new memory costs more than what is written to it
  thread_local std::vector<std::string> messages;
  message.clear();
  const PartRange done = parts_of(ranks, count);
  for (std::int64_t part = done.first; !own && part < done.end; ++part) write(part, message);
  exchange(ranks, own, message, messages);
  const auto began = Clock::now();
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    const PartRange theirs = parts_of(rank, ranks.size(), count);
    std::string_view rest = messages[static_cast<std::size_t>(rank)];
    for (std::int64_t part = theirs.first; part < theirs.end; ++part) read(part, rest);
  }
  ranks.sharing().exchange_seconds += std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace stein::distributed
