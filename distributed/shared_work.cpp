#include <stein/distributed/agree.h>
#include <stein/distributed/shared_work.h>

#include <chrono>
#include <utility>
#include <vector>

namespace stein::distributed {
namespace {

/// Seconds since it was made, or asked last.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

PartRange parts_of(const Communicator& ranks, std::int64_t count) {
  return parts_of(ranks.rank(), ranks.size(), count);
}

void share_work(Communicator& ranks, std::int64_t count, const std::function<void(PartRange)>& work,
                const std::function<void(std::int64_t part, std::string& message)>& write,
                const std::function<void(std::int64_t part, std::string_view& message)>& read) {
  const PartRange own = parts_of(ranks, count);
  if (ranks.size() == 1) return work(own);
  SharingCost& cost = ranks.sharing();
  Stopwatch watch;
  const auto failure = failure_of(thrown_by([&] { work(own); }), ranks.rank());
  cost.work_seconds += watch.lap();
  throw_first(ranks, failure);       // parts and ranks have the same order, so it is that of the first part
  thread_local std::string message;  // kept, as new memory costs more than what is written to it
  thread_local std::vector<std::string> messages;
  message.clear();
  for (std::int64_t part = own.first; part < own.end; ++part) write(part, message);
  ranks.all_gather(message, messages);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    const PartRange theirs = parts_of(rank, ranks.size(), count);
    std::string_view rest = messages[static_cast<std::size_t>(rank)];
    cost.bytes += std::ssize(rest);
    for (std::int64_t part = theirs.first; part < theirs.end; ++part) read(part, rest);
  }
  cost.exchange_seconds += watch.lap();
  ++cost.exchanges;
}

}  // namespace stein::distributed
