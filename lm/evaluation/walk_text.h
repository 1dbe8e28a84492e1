// A network on its way through a text, with the state that it carries.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/lm/text/token_batches.h>

#include <cstdint>
#include <optional>

namespace stein::lm {

/// Whether a batch starts where the one before ended.
enum class Walk { carried, each_from_zero };

/// Calls visit(c, batch, carried) for every batch c of a text. `carried` holds the state of one row of weights, zero
/// where a row of text begins; what the visitor has the model leave there is where the next batch starts from.
template <class Visit>
void walk_text(const TokenBatches& batches, const inference::Model<float>& model, Walk how, const Visit& visit) {
  std::optional<inference::CarriedState<float>> state;
  TokenBatch batch;
  for (std::int64_t c = 0; c < batches.count(); ++c) {
    batches.fill(c, batch);
    if (!state) state.emplace(1, model.carried_size(batch.inputs()), model.device());
    if (batch.fresh || how == Walk::each_from_zero) state->reset();
    visit(c, batch, state->rows());
    state->rows().accept();
  }
}

}  // namespace stein::lm
