#include <stein/distributed/agree.h>
#include <stein/distributed/shared_work.h>

#include <vector>

namespace stein::distributed {
namespace {

PartRange parts_of(std::int64_t rank, std::int64_t ranks, std::int64_t count) {
  return {rank * count / ranks, (rank + 1) * count / ranks};
}

}  // namespace

PartRange parts_of(const Communicator& ranks, std::int64_t count) {
  return parts_of(ranks.rank(), ranks.size(), count);
}

void share_work(Communicator& ranks, std::int64_t count, const std::function<void(PartRange)>& work,
                const std::function<void(std::int64_t part, std::string& message)>& write,
                const std::function<void(std::int64_t part, std::string_view& message)>& read) {
  const PartRange own = parts_of(ranks, count);
  if (ranks.size() == 1) return work(own);
  // Parts and ranks have the same order, so the first failure is that of the first part.
  throw_first(ranks, failure_of(thrown_by([&] { work(own); }), ranks.rank()));
  thread_local std::string message;  // kept, as new memory costs more than what is written to it
  thread_local std::vector<std::string> messages;
  message.clear();
  for (std::int64_t part = own.first; part < own.end; ++part) write(part, message);
  ranks.all_gather(message, messages);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    const PartRange theirs = parts_of(rank, ranks.size(), count);
    std::string_view rest = messages[static_cast<std::size_t>(rank)];
    for (std::int64_t part = theirs.first; part < theirs.end; ++part) read(part, rest);
  }
}

}  // namespace stein::distributed
