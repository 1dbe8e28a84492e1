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
    using Block = inference::OwnedBytes;
    copy(
        board_->blocks, blocks, &Block::owner, [](const Block& a, const Block& b) { return a.owner == b.owner; },
        [this](const Block& block) { return block.owner != rank_; });
  }

  void send(std::span<const inference::SentBytes> blocks) override {
    using Block = inference::SentBytes;
    copy(
        board_->sent, blocks, &Block::from,
        [](const Block& a, const Block& b) { return a.from == b.from && a.to == b.to; },
        [this](const Block& block) { return block.to == rank_; });
  }

 private:
  /// Once all have posted their blocks, this one copies those that it receives.
  /// @param source  the rank whose bytes a block has
  /// @param alike   whether two are of the same ranks
  template <class Block, class Alike, class Receives>
  void copy(std::vector<std::vector<Block>>& posted, std::span<const Block> blocks, int Block::*source,
            const Alike& alike, const Receives& receives) {
    posted[static_cast<std::size_t>(rank_)].assign(blocks.begin(), blocks.end());
    if (rank_ == 0) board_->gathered += static_cast<int>(blocks.size());
    board_->barrier.arrive_and_wait();
    const OpenFence open;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const Block theirs = posted[static_cast<std::size_t>(blocks[k].*source)].at(k);
      if (!alike(theirs, blocks[k]) || theirs.size != blocks[k].size)
        throw std::logic_error("ranks exchange different blocks");
      if (receives(blocks[k])) std::memcpy(blocks[k].data, theirs.data, theirs.size);
    }
    board_->barrier.arrive_and_wait();
  }

  int rank_;
  std::shared_ptr<ExchangeBoard> board_;
};

}  // namespace stein::test
