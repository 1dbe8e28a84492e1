#include <stein/distributed/agree.h>
#include <stein/distributed/shared_work.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "distributed/thread_ranks.h"

using namespace stein;
using distributed::AgreedError, distributed::Communicator, distributed::PartRange;

TEST_CASE("every part is done by one rank, consecutive ones by the same, and falls to no rank twice", "[distributed]") {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const std::int64_t count : {0, 1, 2, 7, 16}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      std::atomic<std::int64_t> most = 0, fewest = count;
      test::on_ranks(ranks, [&](const std::shared_ptr<Communicator>& all) {
        const PartRange own = distributed::parts_of(*all, count);
        for (std::int64_t part = own.first; part < own.end; ++part) ++done[static_cast<std::size_t>(part)];
        for (std::int64_t seen = most;
             own.end - own.first > seen && !most.compare_exchange_weak(seen, own.end - own.first);)
          ;
        for (std::int64_t seen = fewest;
             own.end - own.first < seen && !fewest.compare_exchange_weak(seen, own.end - own.first);)
          ;
      });
      CAPTURE(ranks, count);
      for (const std::atomic<int>& times : done) CHECK(times == 1);
      CHECK(most - fewest <= 1);
    }
  }
}

TEST_CASE("what parts leave is there on every rank: numbers, and lists of any length", "[distributed]") {
  for (const int ranks : {1, 2, 3, 5}) {
    test::on_ranks(ranks, [&](const std::shared_ptr<Communicator>& all) {
      constexpr std::int64_t count = 4;
      std::vector<double> squares(count);
      std::vector<std::vector<std::int32_t>> lists(count);
      const auto work = [&](PartRange own) {
        for (std::int64_t part = own.first; part < own.end; ++part) {
          const auto i = static_cast<std::size_t>(part);
          squares[i] = static_cast<double>(part * part);
          lists[i].resize(i == 2 ? 0 : i + 1), std::iota(lists[i].begin(), lists[i].end(), 10 * static_cast<int>(i));
        }
      };
      const auto write = [&](std::int64_t part, std::string& message) {
        const auto i = static_cast<std::size_t>(part);
        distributed::write_numbers(std::span(&squares[i], 1), message);
        distributed::write_list(lists[i], message);
      };
      const auto read = [&](std::int64_t part, std::string_view& message) {
        const auto i = static_cast<std::size_t>(part);
        distributed::read_numbers(message, std::span(&squares[i], 1));
        distributed::read_list(message, lists[i]);
      };
      distributed::share_work(*all, count, work, write, read);
      if (squares != std::vector<double>{0, 1, 4, 9} ||
          lists != std::vector<std::vector<std::int32_t>>{{0}, {10, 11}, {}, {30, 31, 32, 33}})
        throw std::logic_error("a rank has other numbers");  // ends the test: no thread of it is Catch's own
    });
  }
}

TEST_CASE("a part that fails fails on every rank, with the sentence of the first", "[distributed]") {
  std::atomic<int> told = 0;
  test::on_ranks(3, [&](const std::shared_ptr<Communicator>& all) {
    std::vector<float> numbers(6);
    try {
      distributed::shared_for(
          *all, 6,
          [](std::int64_t part) {
            if (part >= 3) fail(ErrorKind::numeric, "part {} diverged", part);
          },
          [&](std::int64_t part) { return std::span(numbers).subspan(static_cast<std::size_t>(part), 1); });
    } catch (const AgreedError& error) {
      if (error.kind() == ErrorKind::numeric && error.what() == std::string("part 3 diverged")) ++told;
    }
  });
  CHECK(told == 3);
}

TEST_CASE("ranks are split into groups in their order", "[distributed]") {
  std::vector<std::pair<int, int>> places(5);
  test::on_ranks(5, [&](const std::shared_ptr<Communicator>& all) {
    const auto group = all->split(all->rank() % 2);
    const std::vector<std::string> members = group->all_gather(std::to_string(all->rank()));
    if (members.at(static_cast<std::size_t>(group->rank())) != std::to_string(all->rank()))
      throw std::logic_error("a rank is not where it is");
    places[static_cast<std::size_t>(all->rank())] = {group->rank(), group->size()};
  });
  CHECK(places == std::vector<std::pair<int, int>>{{0, 3}, {0, 2}, {1, 3}, {1, 2}, {2, 3}});
}

TEST_CASE("what one rank notifies, all others hear once", "[distributed]") {
  std::vector<int> heard(3);
  test::on_ranks(3, [&](const std::shared_ptr<Communicator>& all) {
    if (all->rank() == 1) all->notify();
    all->all_gather("");
    for (int asked = 0; asked < 2; ++asked) heard[static_cast<std::size_t>(all->rank())] += all->notified() ? 1 : 0;
  });
  CHECK(heard == std::vector<int>{1, 0, 1});
}
