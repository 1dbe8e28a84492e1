// What ranks that are threads bring from device to device: the twin of NCCL's calls on the fenced device.
#pragma once

#include <stein/inference/storage/device_exchange.h>

#include <barrier>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "inference/fenced_device.h"

namespace stein::test {

/// Where the ranks of one exchange see one another's blocks.
struct ExchangeBoard {
  explicit ExchangeBoard(int size)
      : barrier(size), blocks(static_cast<std::size_t>(size)), sent(static_cast<std::size_t>(size)) {}

  std::barrier<> barrier;
  std::vector<std::vector<inference::OwnedBytes>> blocks;  ///< by rank
  std::vector<std::vector<inference::SentBytes>> sent;     ///< by rank
  int gathered = 0;                                        ///< blocks that rank 0 was asked for so far
};

/// The exchange of one of the threads: each copies from the memory of the owners.
class ThreadExchange final : public inference::DeviceExchange {
 public:
  ThreadExchange(int rank, std::shared_ptr<ExchangeBoard> board) : rank_(rank), board_(std::move(board)) {}

  void all_gather(std::span<const inference::OwnedBytes> blocks) override {
    board_->blocks[static_cast<std::size_t>(rank_)].assign(blocks.begin(), blocks.end());
    if (rank_ == 0) board_->gathered += static_cast<int>(blocks.size());
    board_->barrier.arrive_and_wait();
    const OpenFence open;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const inference::OwnedBytes theirs = board_->blocks[static_cast<std::size_t>(blocks[k].owner)].at(k);
      if (theirs.owner != blocks[k].owner || theirs.size != blocks[k].size)
        throw std::logic_error("ranks gather different blocks");
      if (blocks[k].owner != rank_) std::memcpy(blocks[k].data, theirs.data, theirs.size);
    }
    board_->barrier.arrive_and_wait();
  }

  void send(std::span<const inference::SentBytes> blocks) override {
    board_->sent[static_cast<std::size_t>(rank_)].assign(blocks.begin(), blocks.end());
    if (rank_ == 0) board_->gathered += static_cast<int>(blocks.size());
    board_->barrier.arrive_and_wait();
    const OpenFence open;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const inference::SentBytes theirs = board_->sent[static_cast<std::size_t>(blocks[k].from)].at(k);
      if (theirs.from != blocks[k].from || theirs.to != blocks[k].to || theirs.size != blocks[k].size)
        throw std::logic_error("ranks send different blocks");
      if (blocks[k].to == rank_) std::memcpy(blocks[k].data, theirs.data, theirs.size);
    }
    board_->barrier.arrive_and_wait();
  }

 private:
  int rank_;
  std::shared_ptr<ExchangeBoard> board_;
};

}  // namespace stein::test
