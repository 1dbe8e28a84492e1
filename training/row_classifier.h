// What draws of a network's weights say of the classes of rows.
#pragma once

#include <stein/training/labelled_rows.h>
#include <stein/training/sampled_classes.h>
#include <stein/training/weight_draws.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stein::training {

/// Classifies some rows with any weights, in pieces of rows of like length.
class RowClassifier {
 public:
  /// All of the rows, or `at_most` of them at equal distances. @param rows  outlives it
  explicit RowClassifier(LabelledRows& rows) : RowClassifier(rows, rows.count()) {}
  RowClassifier(LabelledRows& rows, std::int64_t at_most);

  std::int64_t count() const { return std::ssize(chosen_); }
  /// The classes that the rows have.
  std::vector<std::int64_t> labels() const;
  /// Adds what one draw says, with its dropout. @param to  has these labels
  void add_sample(inference::Model<float>& model, const WeightDraws::Draw& draw, SampledClasses& to);
  /// What all draws say.
  SampledClasses classify(inference::Model<float>& model, WeightDraws& draws);

 private:
  LabelledRows& rows_;
  std::vector<std::int64_t> chosen_;    ///< of the rows
  std::vector<std::size_t> by_length_;  ///< places in `chosen_`, the shortest row first
  std::vector<std::int64_t> piece_;
  std::vector<float> logits_, piece_logits_;
};

}  // namespace stein::training
