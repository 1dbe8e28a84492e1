#include <stein/distributed/agree.h>

#include <nlohmann/json.hpp>

#include <new>

namespace stein::distributed {
namespace {

using Json = nlohmann::json;

std::string encode(const std::optional<Failure>& failure) {
  if (!failure) return "";
  const Json json{failure->place, static_cast<int>(failure->kind), failure->sentence};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a path may be no UTF-8
}

}  // namespace

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
  Json first;
  for (const std::string& bytes : ranks.gather(encode(own))) {
    if (bytes.empty()) continue;
    Json other = Json::parse(bytes);
    if (first.is_null() || other[0] < first[0]) first = std::move(other);
  }
  const std::string told = ranks.broadcast(first.is_null() ? "" : first.dump());
  if (told.empty()) return;
  const Json failure = Json::parse(told);
  throw AgreedError(static_cast<ErrorKind>(failure[1].get<int>()), failure[2].get<std::string>());
}

void agree(Communicator& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) return work();
  std::optional<Failure> failure = failure_of(thrown_by(work), ranks.rank());
  if (failure && !ranks.is_root()) failure->sentence = fmt::format("rank {}: {}", ranks.rank(), failure->sentence);
  throw_first(ranks, failure);
}

}  // namespace stein::distributed
