// Ranks that are threads of one process, for tests without MPI.
#pragma once

#include <stein/distributed/communicator.h>

#include <barrier>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace stein::test {

/// What the ranks share.
struct Blackboard {
  explicit Blackboard(int size) : barrier(size), written(static_cast<std::size_t>(size)) {}

  std::barrier<> barrier;
  std::vector<std::string> written;  ///< by each rank
};

/// One of the threads.
class ThreadRank final : public distributed::Communicator {
 public:
  ThreadRank(int rank, Blackboard& board) : rank_(rank), board_(board) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(board_.written.size()); }
  std::vector<std::string> gather(const std::string& bytes) override {
    board_.written[static_cast<std::size_t>(rank_)] = bytes;
    board_.barrier.arrive_and_wait();
    std::vector<std::string> all;
    if (is_root()) all = board_.written;
    board_.barrier.arrive_and_wait();
    return all;
  }
  std::string broadcast(const std::string& bytes) override {
    if (is_root()) board_.written[0] = bytes;
    board_.barrier.arrive_and_wait();
    std::string told = board_.written[0];
    board_.barrier.arrive_and_wait();
    return told;
  }
  [[noreturn]] void abort(int) override { throw std::logic_error("a rank gave up"); }

 private:
  int rank_;
  Blackboard& board_;
};

/// Calls work(rank) on `size` threads at once.
inline void on_ranks(int size, const std::function<void(const std::shared_ptr<distributed::Communicator>&)>& work) {
  Blackboard board(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { work(std::make_shared<ThreadRank>(rank, board)); });
}

}  // namespace stein::test
