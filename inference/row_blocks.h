// Rows of weights in the calls of a model that suit it, side by side or one after the other.
#pragma once

#include <stein/core/parallel.h>
#include <stein/inference/model.h>

#include <algorithm>
#include <cstdint>

namespace stein::inference {

/// Calls evaluate(begin, end) for blocks of rows that together are 0 … rows − 1: of as many rows as a call of `model`
/// should get, at the same time if it is concurrent. A row's numbers do not depend on its block.
/// @param largest  rows of a block, where the caller has a limit of its own; 0: none
template <class Scalar, class Evaluate>
void for_each_block(const Model<Scalar>& model, const Batch<Scalar>& batch, std::int64_t rows, const Evaluate& evaluate,
                    std::int64_t largest = 0) {
  const std::int64_t threads = available_threads(), tasks = model.tasks(batch), most = model.rows_per_call();
  std::int64_t block = most == 0 ? rows : std::clamp<std::int64_t>(rows / threads, 1, most);
  if (largest > 0) block = std::min(block, largest);
  // Side by side, few rows leave cores over that their tasks may not fill; one after the other, each has all of them.
  const std::int64_t side_by_side = rows * std::min(tasks, (threads + rows - 1) / rows);
  const bool in_turn = rows < threads && std::min(tasks, threads) > side_by_side;
  if (!model.concurrent() || in_turn)
    for (std::int64_t i = 0; i < rows; i += block) evaluate(i, std::min(i + block, rows));
  else
    parallel_blocks(rows, block, evaluate);
}

}  // namespace stein::inference
