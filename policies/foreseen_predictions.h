// What networks predict for contexts that will be decided soon, found in one call.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::policies {

/// Rows of several contexts, one behind the other, and what M networks answer to them. What was foreseen for a context
/// is found again by its rows, so it does not matter how many of them are asked about, or in between by whom.
class ForeseenPredictions {
 public:
  /// Nothing is foreseen: networks have moved.
  void forget() { begins_.clear(), outputs_ = 0; }
  /// Takes the rows of the next context behind those before, all of one shape, and forgets those that were answered.
  void add(const inference::Inputs<float>& rows);
  /// Where rows were added since, keeps what M networks with K outputs answer to them: ask(inputs, answers) writes
  /// answers [M·rows, K], network by network.
  template <class Ask>
  void answer(std::int64_t networks, std::int64_t outputs, const Ask& ask) {
    if (begins_.empty() || outputs_ > 0) return;
    answers_.resize(static_cast<std::size_t>(networks * rows_ * outputs));
    ask(inputs(), inference::MatrixView<float>(answers_.data(), networks * rows_, outputs));
    outputs_ = outputs;
  }
  /// What `count` networks from `first` on answer to the rows of a context, [count, rows·K]; empty where that was not
  /// foreseen. Contexts are looked for in the order in which they were added, from the last one found on.
  std::optional<inference::MatrixView<const float>> find(const inference::Inputs<float>& rows, std::int64_t first,
                                                         std::int64_t count);

 private:
  inference::Inputs<float> inputs() const;
  bool holds(const inference::Inputs<float>& rows, std::int64_t begin) const;

  std::vector<float> dense_, answers_;
  std::vector<std::int32_t> ones_;
  std::vector<std::int64_t> begins_;  ///< of contexts among all rows
  std::int64_t rows_ = 0, width_ = 0;
  std::int64_t outputs_ = 0;  ///< K; 0 until there are answers to the rows
  std::size_t last_ = 0;      ///< the last context found
};

}  // namespace stein::policies
