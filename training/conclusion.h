// What a trainer found of its network behind the last step, as part of its state.
#pragma once

#include <stein/core/snapshot.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace stein::training {

/// What was found of the two parts of the data that are held out. @tparam Part  has `save` and `restore`
template <class Part>
struct HeldOutParts {
  Part validation, test;

  void save(Snapshot& snapshot) const {
    snapshot.put_saved("validation", validation);
    snapshot.put_saved("test", test);
  }
  void restore(const Snapshot& snapshot) {
    validation.restore(snapshot.part("validation"));
    test.restore(snapshot.part("test"));
  }
};

/// Keeps what was found from where each rank concludes its own repetitions (runs::Repetition::conclude) to the summary,
/// which the root makes of all of them. @tparam Found  has `save` and `restore`
template <class Found>
class Conclusion {
 public:
  /// @param steps  of the training, after which it was found
  void keep(Found found, std::int64_t steps) { found_ = std::move(found), steps_ = steps; }
  void forget() { found_.reset(); }
  /// What was found after so many steps; null where nothing was, or after fewer.
  const Found* after(std::int64_t steps) const { return found_ && steps_ == steps ? &*found_ : nullptr; }

  /// Nothing is saved where nothing was found.
  void save(Snapshot& snapshot) const {
    if (!found_) return;
    snapshot.put_saved("found", *found_);
    snapshot.put("found_step", steps_);
  }
  /// @param blank  takes what was found, if anything was
  void restore(const Snapshot& snapshot, Found blank = {}) {
    found_.reset();
    if (!snapshot.contains("found_step")) return;
    steps_ = snapshot.get_scalar<std::int64_t>("found_step");
    found_ = std::move(blank);
    found_->restore(snapshot.part("found"));
  }

 private:
  std::optional<Found> found_;
  std::int64_t steps_ = 0;
};

}  // namespace stein::training
