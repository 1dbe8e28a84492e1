// Ranks that are threads of one process, for tests without MPI.
#pragma once

#include <stein/distributed/communicator.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stein::test {

/// What the ranks share.
struct Blackboard {
  explicit Blackboard(int size) : barrier(size), written(static_cast<std::size_t>(size)) {}

  std::barrier<> barrier;
  std::vector<std::string> written;                                                                    ///< by each rank
  std::vector<std::vector<std::string>> sent = std::vector<std::vector<std::string>>(written.size());  ///< the same
  std::mutex mutex{};
  std::vector<bool> notified = std::vector<bool>(written.size());
  std::map<int, std::shared_ptr<Blackboard>> groups;
};

/// One of the threads.
class ThreadRank final : public distributed::Communicator {
 public:
  ThreadRank(int rank, std::shared_ptr<Blackboard> board) : rank_(rank), board_(std::move(board)) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(board_->written.size()); }
  int rank_on_machine() const override { return rank_; }
  std::vector<std::string> gather(const std::string& bytes) override {
    std::vector<std::string> all = all_gather(bytes);
    return is_root() ? all : std::vector<std::string>{};
  }
  std::string broadcast(const std::string& bytes) override { return all_gather(bytes).front(); }
  using Communicator::all_gather;
  void all_gather(const std::string& bytes, std::vector<std::string>& all) override {
    board_->written[static_cast<std::size_t>(rank_)] = bytes;
    board_->barrier.arrive_and_wait();
    all = board_->written;
    board_->barrier.arrive_and_wait();
  }
  void all_to_all(const std::vector<std::string>& to, std::vector<std::string>& from) override {
    board_->sent[static_cast<std::size_t>(rank_)] = to;
    board_->barrier.arrive_and_wait();
    from.clear();
    for (const std::vector<std::string>& theirs : board_->sent)
      from.push_back(theirs.at(static_cast<std::size_t>(rank_)));
    board_->barrier.arrive_and_wait();
  }
  std::shared_ptr<distributed::Communicator> split(int group) override {
    const std::vector<std::string> all = all_gather(std::to_string(group));
    const auto like = [&](int ranks) {
      return static_cast<int>(std::count(all.begin(), all.begin() + ranks, all[static_cast<std::size_t>(rank_)]));
    };
    if (like(rank_) == 0) {
      static std::mutex mutex;
      const std::scoped_lock lock(mutex);
      board_->groups[group] = std::make_shared<Blackboard>(like(size()));
    }
    board_->barrier.arrive_and_wait();
    const std::shared_ptr<Blackboard> own = board_->groups.at(group);
    board_->barrier.arrive_and_wait();
    return std::make_shared<ThreadRank>(like(rank_), own);
  }
  void notify() override {
    const std::scoped_lock lock(board_->mutex);
    for (std::size_t other = 0; other < board_->notified.size(); ++other)
      if (other != static_cast<std::size_t>(rank_)) board_->notified[other] = true;
  }
  bool notified() override {
    const std::scoped_lock lock(board_->mutex);
    const bool told = board_->notified[static_cast<std::size_t>(rank_)];
    board_->notified[static_cast<std::size_t>(rank_)] = false;
    return told;
  }
  [[noreturn]] void abort(int) override { throw std::logic_error("a rank gave up"); }

 private:
  int rank_;
  std::shared_ptr<Blackboard> board_;
};

/// Calls work(rank) on `size` threads at once.
inline void on_ranks(int size, const std::function<void(const std::shared_ptr<distributed::Communicator>&)>& work) {
  const auto board = std::make_shared<Blackboard>(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { work(std::make_shared<ThreadRank>(rank, board)); });
}

}  // namespace stein::test
