// Validation while a repetition learns: when it is due, the best so far, and when to stop early.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>

#include <cstdint>
#include <optional>

namespace stein::runs {

/// Which of two validation scores is the better one.
enum class Better { lower, higher };

/// Keeps, for one repetition, the best validation score and the state that had it: what a final test may use instead of
/// the last state. A score that is not finite is never the best.
class Validation {
 public:
  /// How often to validate, and how long to wait for a better score.
  struct Options {
    std::int64_t validate_every = 0;
    std::int64_t patience = 0;

    template <class V>
    void describe(V& v) {
      v("validate_every", validate_every, "validation each time that so many more steps have been taken; 0: never",
        between(0, 1e12), "steps");
      v("patience", patience, "validations without a new best after which a repetition stops early; 0: never",
        between(0, 1e6), "validations");
    }
  };
  /// The state with the best score so far.
  struct Best {
    std::int64_t step;  ///< steps done when the score was measured
    double score;
  };

  /// Throws Error(usage) naming the option that is out of range, and for patience without validation.
  Validation(const Options& options, Better better);

  /// Whether a validation is due after `steps_done` steps.
  bool due(std::int64_t steps_done) const;
  /// The steps after which the next one is due; a very large number where there is none.
  std::int64_t next_due(std::int64_t steps_done) const;
  /// Takes the score of a validation. @param state  what is kept if the score is the best so far
  /// @returns whether it is
  bool add(std::int64_t steps_done, double score, const Snapshot& state);
  /// Whether `patience` validations in a row brought no new best.
  bool stops_early() const { return options_.patience > 0 && since_best_ >= options_.patience; }

  /// Nothing before the first finite score.
  const std::optional<Best>& best() const { return best_; }
  /// The state that had the best score. Throws Error(usage) before there is one.
  const Snapshot& best_state() const;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
  /// Of what `save` wrote the state that had the best score; nothing before there was one.
  static std::optional<Snapshot> saved_best(const Snapshot& snapshot);

 private:
  Options options_;
  Better better_;
  std::int64_t validations_ = 0;  ///< multiples of validate_every that are done with
  std::int64_t since_best_ = 0;
  std::optional<Best> best_;
  Snapshot state_;
};

}  // namespace stein::runs
