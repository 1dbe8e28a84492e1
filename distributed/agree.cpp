#include <fmt/format.h>
#include <stein/distributed/agree.h>
#include <stein/distributed/failure_message.h>

#include <new>

namespace stein::distributed {

std::optional<Failure> failure_of(const std::exception_ptr& error, std::int64_t place) {
  if (!error) return std::nullopt;
  try {
    std::rethrow_exception(error);
  } catch (const Error& found) {
    return Failure{place, found.kind(), found.what()};
  } catch (const std::bad_alloc&) {
    return Failure{place, ErrorKind::io, "out of memory"};
  } catch (const std::exception& found) {
    return Failure{place, ErrorKind::io, found.what()};
  }
}

std::exception_ptr thrown_by(const std::function<void()>& work) {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void throw_first(Communicator& ranks, const std::optional<Failure>& own) {
  std::optional<Failure> first;
  for (const std::string& bytes : ranks.gather(own ? to_message(*own) : "")) {
    if (bytes.empty()) continue;
    if (Failure other = failure_in(bytes); !first || other.place < first->place) first = std::move(other);
  }
  const std::string told = ranks.broadcast(first ? to_message(*first) : "");
  if (told.empty()) return;
  const Failure failure = failure_in(told);
  throw AgreedError(failure.kind, failure.sentence);
}

void agree(Communicator& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) return work();
  std::optional<Failure> failure = failure_of(thrown_by(work), ranks.rank());
  if (failure && !ranks.is_root()) failure->sentence = fmt::format("rank {}: {}", ranks.rank(), failure->sentence);
  throw_first(ranks, failure);
}

}  // namespace stein::distributed
