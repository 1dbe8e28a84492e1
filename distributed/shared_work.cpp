#include <stein/distributed/exchange.h>
#include <stein/distributed/shared_work.h>

#include <chrono>

namespace stein::distributed {
PartRange parts_of(const Communicator& ranks, std::int64_t count) {
  return parts_of(ranks.rank(), ranks.size(), count);
}

void share_work(Communicator& ranks, std::int64_t count, const std::function<void(PartRange)>& work,
                const std::function<void(std::int64_t part, std::string& message)>& write,
                const std::function<void(std::int64_t part, std::string_view& message)>& read) {
  const PartRange own = parts_of(ranks, count);
  if (ranks.size() == 1) return work(own);
  const auto began = std::chrono::steady_clock::now();
  // Parts and ranks have the same order, so what is told is that of the first part.
  const auto failure = failure_of(thrown_by([&] { work(own); }), ranks.rank());
  ranks.sharing().work_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  exchange_parts(ranks, count, failure, write, read);
}

}  // namespace stein::distributed
