#include <stein/core/error.h>
#include <stein/core/median.h>
#include <stein/distributed/message_times.h>

#include <chrono>
#include <string>

namespace stein::distributed {
namespace {

using Clock = std::chrono::steady_clock;

/// A letter for every rank, so that what it gave can be told.
std::string message_of(int rank, std::int64_t bytes) {
  constexpr int letters = 26;
  return std::string(static_cast<std::size_t>(bytes), static_cast<char>('a' + rank % letters));
}

void check_arrived(const std::vector<std::string>& all, std::int64_t bytes) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != message_of(static_cast<int>(rank), bytes))
      fail(ErrorKind::numeric, "a message of {} bytes from rank {} arrived changed", bytes, rank);
}

double seconds_of(Communicator& ranks, std::int64_t bytes, double limit) {
  constexpr std::int64_t fewest = 7;
  const std::string own = message_of(ranks.rank(), bytes);
  std::vector<std::string> all;
  ranks.all_gather(own, all);  // makes its memory
  check_arrived(all, bytes);
  std::vector<double> seconds;
  const Clock::time_point begin = Clock::now();
  do {  // all ranks go on as long as the root wants to
    const Clock::time_point start = Clock::now();
    ranks.all_gather(own, all);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  } while (ranks.any(ranks.is_root() && (std::ssize(seconds) < fewest ||
                                         std::chrono::duration<double>(Clock::now() - begin).count() < limit)));
  return median(seconds);
}

}  // namespace

std::vector<MessageTime> measure_messages(Communicator& ranks, const MessageTimeOptions& options) {
  constexpr std::int64_t smallest = 64, factor = 8;
  STEIN_CHECK(options.largest >= smallest, "messages: expected a largest of at least {} bytes, got {}", smallest,
              options.largest);
  std::vector<MessageTime> times;
  for (std::int64_t bytes = smallest; bytes <= options.largest; bytes *= factor)
    times.push_back({.bytes = bytes, .seconds = seconds_of(ranks, bytes, options.seconds_a_size)});
  return times;
}

}  // namespace stein::distributed
