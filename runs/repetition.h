// One repetition of an experiment.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/core/stop_token.h>
#include <stein/distributed/communicator.h>
#include <stein/runs/records.h>
#include <stein/runs/validation.h>

#include <cstdint>
#include <optional>
#include <string>

namespace stein::runs {

/// What is repeated, with a seed of its own: an agent in its environment, a network and its trainer. Repetitions run
/// side by side and share nothing.
class Repetition {
 public:
  virtual ~Repetition() = default;

  virtual std::uint64_t seed() const = 0;
  virtual std::int64_t steps_done() const = 0;
  /// Whether there is nothing left to do, however many steps were asked for: the data have ended, or a validation rule
  /// stops early.
  virtual bool ended() const { return false; }
  /// The share of its data that is behind it, where its length is not known before; 0: that is not known either.
  virtual double share_done() const { return 0; }
  /// Takes a few steps, one at least unless asked to stop, and none beyond `until` but those that cannot be taken
  /// apart; between two steps it may look at `stop` and return. Throws Error(numeric) if it diverged; it must then not
  /// be saved.
  virtual void advance(std::int64_t until, const StopToken& stop, Records& records) = 0;

  /// From here on `advance` is a collective call of `ranks`, which have to outlive the repetition and whose own ones
  /// are all in the same state: they share the work of every step, and each is afterwards as if it had done all of it,
  /// but for what `bring_together` brings. It then takes a few steps whatever `stop` says.
  /// @returns false, with nothing changed, where it cannot: the other ranks then have nothing to do
  virtual bool share_with(distributed::Communicator& ranks) {
    static_cast<void>(ranks);
    return false;
  }
  /// Where it is shared, before it is saved, a collective call of those ranks: brings what only the rank that works on
  /// it knew to the first of them, which is then as if it had done all steps alone.
  virtual void bring_together() {}

  /// After the last step, where its result takes an evaluation that is worth spreading over ranks: makes it, and keeps
  /// what was found as part of its state, until it takes another step or `Run::summarize` has used it, and dropped it:
  /// a finished run's last checkpoint is that of the last step. What a stop cuts short is not kept. Throws
  /// Error(numeric) as `advance`.
  virtual void conclude(const StopToken& stop) { static_cast<void>(stop); }

  /// Where it is validated while it learns: the best score so far; null otherwise.
  virtual const Validation* validation() const { return nullptr; }
  /// Puts it into the best state by validation, to be looked at, not to go on; does nothing where it is not validated.
  virtual void restore_best() {}

  /// What a person should know of how it went.
  virtual std::optional<std::string> warning() const { return std::nullopt; }

  /// Everything that later steps depend on.
  virtual void save(Snapshot& snapshot) const = 0;
  /// Throws Error(data) if the saved state does not fit.
  virtual void restore(const Snapshot& snapshot) = 0;
};

}  // namespace stein::runs
