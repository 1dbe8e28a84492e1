// A text as minibatches of token sequences.
#pragma once

#include <stein/inference/batch.h>
#include <stein/lm/text/corpus.h>

#include <cstdint>
#include <vector>

namespace stein::lm {

/// Some sequences side by side, and what follows each of their tokens.
struct TokenBatch {
  std::int64_t rows = 0, steps = 0;
  std::vector<std::int32_t> tokens{};  ///< [rows, steps]
  std::vector<float> targets{};        ///< [rows, steps] the next token of each, as a number
  bool fresh = true;                   ///< no row goes on where the batch before ended

  std::int64_t size() const { return rows * steps; }
  /// Views of what is here, from zero state.
  inference::Inputs<float> inputs() const;
  /// The same with targets, each a datum of `data_size`.
  inference::Batch<float> batch(double data_size) const;
};

/// A text as batches of B rows and T steps that follow one another: row b of a batch goes on where row b of the batch
/// before ended, until `fresh` says otherwise.
///
/// One stretch is cut into B rows of equal length (Zaremba et al. 2014); several are taken B at a time, one a row, and
/// cut to the length of the shortest. What fills no row or no batch is left out; with `Remainder::kept` the last batch
/// of each pass is shorter instead.
class TokenBatches {
 public:
  /// What becomes of the tokens behind the last whole batch.
  enum class Remainder { dropped, kept };

  /// @param stretches  outlives the batches
  /// @throws Error(usage) unless rows and steps are at least 1 and the stretches, if several, are a multiple of `rows`;
  ///         Error(data) naming `what` if the text is too short for a single batch
  TokenBatches(const Stretches& stretches, std::int64_t rows, std::int64_t steps, std::string_view what,
               Remainder remainder = Remainder::dropped);

  /// Batches that go once through the text.
  std::int64_t count() const { return passes_ * batches_of_pass_; }
  /// Tokens that are predicted in all of them.
  std::int64_t tokens() const { return passes_ * rows_ * length_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t steps() const { return steps_; }
  /// Fills `batch` with batch 0 ≤ c < count().
  void fill(std::int64_t c, TokenBatch& batch) const;

 private:
  const Stretches& stretches_;
  std::int64_t rows_, steps_;
  std::int64_t passes_ = 1;  ///< over B rows that begin together
  std::int64_t length_ = 0;  ///< targets of a row in a pass
  std::int64_t batches_of_pass_ = 0;
};

}  // namespace stein::lm
