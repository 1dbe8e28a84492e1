// A repetition that is validated while it learns: what trainers on a data set derive from.
#pragma once

#include <stein/runs/repetition.h>
#include <stein/runs/validation.h>

#include <optional>

namespace stein::runs {

/// Learns in stretches that end where a validation is due, records its score under the tag "validation", keeps the
/// state with the best score, and ends early where the options say so. All of that is part of what is saved; the
/// summary of the run has a field `validation` with best score and step of every repetition.
class ValidatedRepetition : public Repetition {
 public:
  ValidatedRepetition(const Validation::Options& options, Better better) : validation_(options, better) {}

  bool ended() const final { return validation_.stops_early() || out_of_data(); }
  void advance(std::int64_t until, const StopToken& stop, Records& records) final;
  void save(Snapshot& snapshot) const final;
  void restore(const Snapshot& snapshot) final;

  const Validation* validation() const final { return &validation_; }
  /// Puts the model into the state that had the best score, for a test or an evaluation; does nothing before the first
  /// finite score. The repetition must not go on after it.
  void restore_best() final;

  // Of what `save` wrote, without a repetition.

  static Snapshot saved_model(const Snapshot& snapshot) { return snapshot.part("model"); }
  static Snapshot saved_training(const Snapshot& snapshot) { return snapshot.part("training"); }
  /// The model with the best score; nothing before there was one.
  static std::optional<Snapshot> saved_best(const Snapshot& snapshot) {
    return Validation::saved_best(snapshot.part("validation"));
  }

 private:
  /// A few steps, one at least, and none beyond `until`.
  virtual void learn(std::int64_t until, const StopToken& stop, Records& records) = 0;
  /// The score of the model on the validation data.
  virtual double validate() = 0;
  /// Whether the data have ended.
  virtual bool out_of_data() const { return false; }
  /// What a test needs of the model.
  virtual void save_model(Snapshot& snapshot) const = 0;
  virtual void restore_model(const Snapshot& snapshot) = 0;
  /// Everything else that later steps depend on.
  virtual void save_training(Snapshot& snapshot) const = 0;
  virtual void restore_training(const Snapshot& snapshot) = 0;

  Validation validation_;
};

}  // namespace stein::runs
