// What fails on one rank fails on all, with one sentence: no rank waits for another that has given up.
#pragma once

#include <stein/core/error.h>
#include <stein/distributed/communicator.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace stein::distributed {

/// An error that every rank throws at the same point; the root tells it.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// What went wrong on a rank.
struct Failure {
  std::int64_t place;  ///< of several the one with the lowest place is told: a rank, the index of a seed
  ErrorKind kind;
  std::string sentence;
};

/// What `error` says; of other exceptions than Error what they say, as Error(io). Nothing for no exception.
std::optional<Failure> failure_of(const std::exception_ptr& error, std::int64_t place);

/// What `work` threw; null if nothing.
std::exception_ptr thrown_by(const std::function<void()>& work);

/// Collective. Throws AgreedError on every rank if there is a failure on any.
void throw_first(Communicator& ranks, const std::optional<Failure>& own);

/// Collective. Does `work`, which makes no collective call itself, on every rank; if it throws on any, all throw
/// AgreedError, that of the lowest rank. A single process throws what `work` throws.
void agree(Communicator& ranks, const std::function<void()>& work);

}  // namespace stein::distributed
