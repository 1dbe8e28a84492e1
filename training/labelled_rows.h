// Rows of data with classes: what a classifier's minibatches are made of.
#pragma once

#include <stein/core/rng.h>
#include <stein/core/snapshot.h>
#include <stein/inference/batch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace stein::training {

/// Sentences, images, rows of a table, each with a class.
class LabelledRows {
 public:
  virtual ~LabelledRows() = default;

  virtual std::int64_t count() const = 0;
  /// The class of a row, from 0.
  virtual std::int64_t label(std::int64_t row) const = 0;
  /// What a row costs to read, in any unit: rows of like length are predicted together.
  virtual std::int64_t length(std::int64_t row) const {
    static_cast<void>(row);
    return 1;
  }
  /// The row as a person can read it; empty where there is no such text.
  virtual std::string text(std::int64_t row) const {
    static_cast<void>(row);
    return {};
  }
  /// Inputs of these rows in this order, in memory that is valid until the next call.
  virtual inference::Inputs<float> inputs(std::span<const std::int64_t> rows) = 0;
  /// The same for a step of training, where rows may be changed anew each time: images that are turned or mirrored.
  /// @param key  of what is drawn
  virtual inference::Inputs<float> training_inputs(std::span<const std::int64_t> rows, const NoiseKey& key) {
    static_cast<void>(key);
    return inputs(rows);
  }
};

/// What a classifier learns from, is stopped by, and is tested on.
struct LabelledParts {
  std::unique_ptr<LabelledRows> train, validation, test;
  /// Places on a plane whose classes nobody knows, for a picture of what is said there; null where rows are no such
  /// places.
  std::unique_ptr<LabelledRows> plane{};
  Snapshot meaning{};  ///< of inputs and classes, for predictions of new rows (EpochTrainer)
};

}  // namespace stein::training
