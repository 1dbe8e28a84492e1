#include <stein/core/error.h>
#include <stein/distributed/message_times.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "distributed/thread_ranks.h"

using namespace stein;
using Catch::Contains;
using distributed::Communicator, distributed::MessageTime;

namespace {

constexpr distributed::MessageTimeOptions few{.largest = 5000, .seconds_a_size = 0};

/// Messages that take a millisecond and another for every thousand bytes, and arrive with another letter if `changes`.
class SlowRanks final : public Communicator {
 public:
  explicit SlowRanks(bool changes) : changes_(changes) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int rank_on_machine() const override { return 0; }
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes, bytes}; }
  std::string broadcast(const std::string& bytes) override { return bytes; }
  using Communicator::all_gather;
  void all_gather(const std::string& bytes, std::vector<std::string>& all) override {
    const bool asks = bytes.size() < 64;  // whether to go on
    if (!asks) std::this_thread::sleep_for(std::chrono::milliseconds(1 + bytes.size() / 1000));
    all = {bytes, asks ? bytes : std::string(bytes.size(), 'b')};
    if (changes_ && bytes.size() > 1000) all[1][bytes.size() / 2] = 'c';
  }
  void all_to_all(const std::vector<std::string>&, std::vector<std::string>&) override { std::abort(); }
  std::shared_ptr<Communicator> split(int) override { return nullptr; }
  void notify() override {}
  bool notified() override { return false; }
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  bool changes_;
};

}  // namespace

TEST_CASE("messages are measured from 64 bytes in steps of eight, as long as they take", "[distributed][messages]") {
  SlowRanks ranks(false);
  const std::vector<MessageTime> times = distributed::measure_messages(ranks, few);
  REQUIRE(times.size() == 3);
  CHECK((times[0].bytes == 64 && times[1].bytes == 512 && times[2].bytes == 4096));
  CHECK(times[0].seconds >= 0.001);
  CHECK(times[1].seconds >= 0.001);
  CHECK(times[2].seconds >= 0.005);
}

TEST_CASE("all ranks measure messages as often as the root does", "[distributed][messages]") {
  test::on_ranks(3, [&](const std::shared_ptr<Communicator>& all) {
    const std::vector<MessageTime> times = distributed::measure_messages(*all, few);
    if (times.size() != 3) throw std::runtime_error("expected three sizes");
  });
}

TEST_CASE("a message that arrives changed is no measurement", "[distributed][messages]") {
  SlowRanks ranks(true);
  CHECK_THROWS_WITH(distributed::measure_messages(ranks, few),
                    Contains("a message of 4096 bytes from rank 1 arrived changed"));
  CHECK_THROWS_WITH(distributed::measure_messages(ranks, {.largest = 63}), Contains("a largest of at least 64 bytes"));
}
