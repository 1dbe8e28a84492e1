// Which steps of a run give the samples that are kept.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/sampler.h>

#include <functional>
#include <vector>

namespace stein::inference {

/// Which K of a run's candidates are kept (Gan et al. 2017, section 4.2).
enum class Selection {
  forward,   ///< the first K
  backward,  ///< the last K
  thinned,   ///< K at equal distances, the last candidate among them
};

/// The places of those that are kept among so many candidates 0, 1, …, in order.
/// Throws Error(usage) unless 0 < samples <= candidates.
std::vector<std::int64_t> selected(Selection selection, std::int64_t samples, std::int64_t candidates);

/// Which steps of a sampler are kept as samples.
struct CollectorOptions {
  std::int64_t burn_in = 1000;
  std::int64_t thinning = 1;
  std::int64_t samples = 30;  ///< K
  Selection selection = Selection::thinned;

  template <class V>
  void describe(V& v) {
    v("burn_in", burn_in, "first steps of the run, none of which is a sample", at_least(0), "steps");
    v("thinning", thinning, "steps from one candidate to the next", at_least(1), "steps");
    v("samples", samples, "K: samples that are kept", at_least(1));
    v("selection", selection, "the first K candidates, the last K, or K at equal distances",
      {{"forward", Selection::forward}, {"backward", Selection::backward}, {"thinned", Selection::thinned}});
  }
};

/// What a step means for the samples.
struct Collection {
  std::int64_t dropped = 0;  ///< of the last samples, that were of steps which were taken back: drop them first
  bool keep = false;         ///< what the step reached is a sample
};

/// Says after every step whether what it reached is to be kept. All is decided before the run, so one chain can feed
/// several collectors, and predictions can be streamed with no sample stored:
///
/// @code
///   Collector collector(options, steps);
///   while (collector.steps() < steps) {
///     const Collection now = collector.take(sampler.step(particles, posterior, batch));
///     samples.drop_last(now.dropped);
///     if (now.keep) samples.add(particles);
///   }
/// @endcode
///
/// Steps are those of the chain that remains: where some were taken back (see RollbackSampler), as many are made again,
/// and samples of the lost ones are dropped.
///
/// Candidates are every `thinning`-th step after the burn-in that does not explore. A proposal that was rejected leaves
/// a sample all the same: the place where the chain stayed.
class Collector {
 public:
  /// @param steps      length of the run
  /// @param exploring  whether step t = 0, 1, … looks for a mode or tunes, what `Sampler::exploring` says:
  ///                   such steps are no candidates; empty: none does
  /// @throws Error(usage) naming the option that is out of range, and unless the run is longer than the burn-in and has
  ///         at least K candidates
  Collector(const CollectorOptions& options, std::int64_t steps,
            const std::function<bool(std::int64_t)>& exploring = {});

  /// Counts a step. One that was to be kept but reports that it explored is passed over; one that only went back counts
  /// for nothing.
  /// @throws Error(usage) after the last step of the run
  Collection take(const StepReport& report);

  /// Whether the next step is to be kept, if it is taken.
  bool due() const { return !done() && plan_[static_cast<std::size_t>(next_)] == step_; }

  /// The steps t = 0, 1, … to be kept, in order.
  const std::vector<std::int64_t>& plan() const { return plan_; }
  /// Steps of the chain so far, without those that were taken back.
  std::int64_t steps() const { return step_; }
  std::int64_t taken() const { return next_ - skipped(); }
  /// Steps of the plan that were passed over because they explored.
  std::int64_t skipped() const { return std::ssize(skipped_); }
  bool done() const { return next_ == std::ssize(plan_); }

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if it was saved by a collector with another plan.
  void restore(const Snapshot& snapshot);

 private:
  std::vector<std::int64_t> plan_;
  std::int64_t run_, step_ = 0, next_ = 0;
  std::vector<std::int64_t> skipped_;  ///< places in the plan, in order
};

}  // namespace stein::inference
