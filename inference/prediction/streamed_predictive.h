// A predictive of a chain that may go back.
#pragma once

#include <stein/inference/prediction/predictive.h>
#include <stein/inference/sampler.h>

#include <vector>

namespace stein::inference {

/// Averages predictions while the chain runs, and forgets those of steps that are taken back (see RollbackSampler):
///
/// @code
///   const StepReport report = sampler.step(particles, posterior, batch);
///   streamed.follow(report);
///   if (collector.take(report).keep) add_predictions(streamed.current(), posterior, …);
/// @endcode
///
/// It holds a part for each state that can be gone back to and an empty one, up to four times the memory of a
/// Predictive.
class StreamedPredictive {
 public:
  /// The parameters and errors of Predictive.
  StreamedPredictive(Likelihood likelihood, std::int64_t inputs, std::int64_t outputs);

  /// To be called after every step, before what it reached is added.
  void follow(const StepReport& report);
  /// Where the predictions of the step that was followed last are added.
  Predictive& current() { return parts_.back().draws; }
  /// All draws that were not taken back.
  Predictive total() const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved for another likelihood or shape.
  void restore(const Snapshot& snapshot);

 private:
  /// Draws of the steps from `first` on.
  struct Part {
    std::int64_t first;
    Predictive draws;
  };

  Predictive empty_;
  std::vector<Part> parts_;  ///< the first holds what can no longer be taken back
  std::int64_t steps_ = 0;   ///< of the chain that remains
};

}  // namespace stein::inference
