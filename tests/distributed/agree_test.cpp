#include <stein/distributed/agree.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <stdexcept>

#include "distributed/thread_ranks.h"

using namespace stein;
using distributed::agree, distributed::AgreedError, distributed::Communicator;

namespace {

/// What each of three ranks throws where `work` is done together: the kind and the sentence, once if all say the same.
std::set<std::pair<ErrorKind, std::string>> thrown_by(const std::function<void(int rank)>& work) {
  std::set<std::pair<ErrorKind, std::string>> thrown;
  std::mutex mutex;
  test::on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
    std::pair<ErrorKind, std::string> own{ErrorKind::io, "nothing was thrown"};
    try {
      agree(*ranks, [&] { work(ranks->rank()); });
    } catch (const AgreedError& error) {
      own = {error.kind(), error.what()};
    }
    const std::scoped_lock lock(mutex);
    thrown.insert(own);
  });
  return thrown;
}

}  // namespace

TEST_CASE("what fails on one rank fails on all, with the sentence and the kind of the lowest", "[distributed]") {
  using Thrown = std::set<std::pair<ErrorKind, std::string>>;
  CHECK(thrown_by([](int) {}) == Thrown{{ErrorKind::io, "nothing was thrown"}});
  CHECK(thrown_by([](int rank) {
          if (rank > 0) fail(ErrorKind::data, "no data on {}", rank);
        }) == Thrown{{ErrorKind::data, "rank 1: no data on 1"}});
  CHECK(thrown_by([](int) { fail(ErrorKind::usage, "all alike"); }) == Thrown{{ErrorKind::usage, "all alike"}});
  CHECK(thrown_by([](int rank) {
          if (rank == 2) throw std::runtime_error("not ours, and \xff no UTF-8");
        }) == Thrown{{ErrorKind::io, "rank 2: not ours, and \xef\xbf\xbd no UTF-8"}});
}

TEST_CASE("a single process throws what its work throws", "[distributed]") {
  distributed::SingleProcess alone;
  CHECK_THROWS_AS(agree(alone, [] { throw std::out_of_range("far"); }), std::out_of_range);
}

TEST_CASE("of several failures that with the lowest place is told", "[distributed]") {
  test::on_ranks(3, [](const std::shared_ptr<Communicator>& ranks) {
    std::string told;
    try {
      const std::int64_t place = 30 - ranks->rank();  // of the last rank the lowest
      distributed::throw_first(*ranks, distributed::Failure{place, ErrorKind::numeric, std::to_string(place)});
    } catch (const AgreedError& error) {
      told = error.what();
    }
    if (told != "28") throw std::logic_error("told " + told);  // ends the program: Catch takes no checks of threads
  });
}

TEST_CASE("any rank's wish is known to all", "[distributed]") {
  for (const int wishing : {-1, 0, 2}) {
    std::mutex mutex;
    int yes = 0;
    test::on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
      const bool any = ranks->any(ranks->rank() == wishing);
      const std::scoped_lock lock(mutex);
      yes += any ? 1 : 0;
    });
    CHECK(yes == (wishing < 0 ? 0 : 3));
  }
}
