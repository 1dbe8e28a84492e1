#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/interaction_window.h>

#include <algorithm>

namespace stein::policies {
namespace {

/// Interactions that a window which keeps all of them has room for at first.
constexpr std::int64_t first_room = 1024;

template <class T>
void copy_row(const std::vector<T>& from, std::int64_t source, std::vector<T>& to, std::int64_t target,
              std::int64_t width) {
  std::copy_n(from.begin() + source * width, width, to.begin() + target * width);
}

/// The first `rows` rows only: what lies behind them has never been written.
template <class T>
std::span<const T> filled(const std::vector<T>& values, std::int64_t rows, std::int64_t width) {
  return std::span<const T>(values).first(static_cast<std::size_t>(rows * width));
}

template <class T>
void restore_rows(const Snapshot& snapshot, std::string_view name, std::vector<T>& values, std::int64_t rows,
                  std::int64_t width) {
  snapshot.get(name, std::span<T>(values).first(static_cast<std::size_t>(rows * width)));
}

}  // namespace

InteractionWindow::Rows::Rows(const envs::BanditSpec& spec, std::int64_t rows) {
  resize(spec, rows);
}

void InteractionWindow::Rows::resize(const envs::BanditSpec& spec, std::int64_t rows) {
  dense.resize(static_cast<std::size_t>(rows * spec.dense_columns()));
  active.resize(static_cast<std::size_t>(rows * spec.active_columns));
  arm_features.resize(static_cast<std::size_t>(rows * spec.arm_features));
  actions.resize(static_cast<std::size_t>(rows));
  rewards.resize(static_cast<std::size_t>(rows));
  weights.resize(static_cast<std::size_t>(rows));
  numbers.resize(static_cast<std::size_t>(rows));
}

InteractionWindow::InteractionWindow(const envs::BanditSpec& spec, std::int64_t capacity, std::int64_t batch)
    : spec_(spec),
      keeps_all_(capacity == 0),
      capacity_(keeps_all_ ? first_room : capacity),
      batch_(batch),
      kept_(spec, std::max<std::int64_t>(capacity_, 0)),
      drawn_(spec, std::max<std::int64_t>(batch, 0)) {
  STEIN_CHECK(capacity >= 0, "the buffer must hold at least 1 interaction (0: all of them), got {}", capacity);
  STEIN_CHECK(batch >= 1, "batch must be at least 1, got {}", batch);
}

void InteractionWindow::append(const envs::Context& context, const Outcome& outcome) {
  context.check(spec_);
  const std::int64_t place = context.place_of(outcome.action, spec_);
  if (keeps_all_ && rows_ == capacity_) grow();
  std::ranges::copy(context.dense, kept_.dense.begin() + next_ * spec_.dense_columns());
  std::ranges::copy(context.active, kept_.active.begin() + next_ * spec_.active_columns);
  std::copy_n(context.arm_features.begin() + place * spec_.arm_features, spec_.arm_features,
              kept_.arm_features.begin() + next_ * spec_.arm_features);
  const auto at = static_cast<std::size_t>(next_);
  kept_.actions[at] = static_cast<std::int32_t>(outcome.action);
  kept_.rewards[at] = static_cast<float>(outcome.reward);
  kept_.weights[at] = static_cast<float>(outcome.weight);
  weighted_ = weighted_ || outcome.weight != 1;
  kept_.numbers[at] = appended_++;
  rows_ = std::min(rows_ + 1, capacity_);
  next_ = keeps_all_ ? rows_ : (next_ + 1) % capacity_;
}

void InteractionWindow::grow() {
  capacity_ *= 2;
  kept_.resize(spec_, capacity_);
}

InteractionBatch InteractionWindow::all() const {
  return {.dense = filled(kept_.dense, rows_, spec_.dense_columns()),
          .active = filled(kept_.active, rows_, spec_.active_columns),
          .arm_features = filled(kept_.arm_features, rows_, spec_.arm_features),
          .actions = filled(kept_.actions, rows_, 1),
          .rewards = filled(kept_.rewards, rows_, 1),
          .weights = weighted_ ? filled(kept_.weights, rows_, 1) : std::span<const float>(),
          .numbers = filled(kept_.numbers, rows_, 1),
          .rows = rows_,
          .window = rows_};
}

InteractionBatch InteractionWindow::draw(std::uint64_t seed, std::uint64_t update) {
  STEIN_CHECK(rows_ > 0, "a minibatch can only be drawn once the window holds an interaction");
  Draws draws({.seed = seed, .step = update, .stream = Stream::minibatch}, 0);
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t row = draws.integer(static_cast<std::uint32_t>(rows_));
    copy_row(kept_.dense, row, drawn_.dense, i, spec_.dense_columns());
    copy_row(kept_.active, row, drawn_.active, i, spec_.active_columns);
    copy_row(kept_.arm_features, row, drawn_.arm_features, i, spec_.arm_features);
    copy_row(kept_.actions, row, drawn_.actions, i, 1);
    copy_row(kept_.rewards, row, drawn_.rewards, i, 1);
    copy_row(kept_.weights, row, drawn_.weights, i, 1);
    copy_row(kept_.numbers, row, drawn_.numbers, i, 1);
  }
  return {.dense = drawn_.dense,
          .active = drawn_.active,
          .arm_features = drawn_.arm_features,
          .actions = drawn_.actions,
          .rewards = drawn_.rewards,
          .weights = weighted_ ? std::span<const float>(drawn_.weights) : std::span<const float>(),
          .numbers = drawn_.numbers,
          .rows = batch_,
          .window = rows_};
}

void InteractionWindow::save(Snapshot& snapshot) const {
  const std::int64_t dense = spec_.dense_columns(), active = spec_.active_columns, features = spec_.arm_features;
  snapshot.put("rows", rows_);
  snapshot.put("next", next_);
  snapshot.put("dense", filled(kept_.dense, rows_, dense), {rows_, dense});
  snapshot.put("active", filled(kept_.active, rows_, active), {rows_, active});
  if (features > 0) snapshot.put("arm_features", filled(kept_.arm_features, rows_, features), {rows_, features});
  snapshot.put("actions", filled(kept_.actions, rows_, 1));
  snapshot.put("rewards", filled(kept_.rewards, rows_, 1));
  snapshot.put("numbers", filled(kept_.numbers, rows_, 1));
  if (weighted_) snapshot.put("weights", filled(kept_.weights, rows_, 1));
}

void InteractionWindow::restore(const Snapshot& snapshot) {
  const auto rows = snapshot.get_scalar<std::int64_t>("rows");
  const auto next = snapshot.get_scalar<std::int64_t>("next");
  while (keeps_all_ && capacity_ < rows) grow();
  if (rows < 0 || rows > capacity_ || next < 0 || (keeps_all_ ? next != rows : next >= capacity_))
    fail(ErrorKind::data, "the saved window holds {} interactions (next slot {}), but the buffer has room for {}", rows,
         next, capacity_);
  restore_rows(snapshot, "dense", kept_.dense, rows, spec_.dense_columns());
  restore_rows(snapshot, "active", kept_.active, rows, spec_.active_columns);
  if (spec_.arm_features > 0) restore_rows(snapshot, "arm_features", kept_.arm_features, rows, spec_.arm_features);
  restore_rows(snapshot, "actions", kept_.actions, rows, 1);
  restore_rows(snapshot, "rewards", kept_.rewards, rows, 1);
  weighted_ = snapshot.contains("weights");
  if (weighted_)
    restore_rows(snapshot, "weights", kept_.weights, rows, 1);
  else
    std::ranges::fill(kept_.weights, 1.0F);
  rows_ = rows;
  next_ = next;
  restore_numbers(snapshot);
}

void InteractionWindow::restore_numbers(const Snapshot& snapshot) {
  if (snapshot.contains("numbers")) {
    restore_rows(snapshot, "numbers", kept_.numbers, rows_, 1);
  } else {  // older checkpoints: the oldest interaction of the window counts as the first
    const std::int64_t oldest = rows_ == capacity_ ? next_ : 0;
    for (std::int64_t i = 0; i < rows_; ++i) kept_.numbers[static_cast<std::size_t>((oldest + i) % capacity_)] = i;
  }
  appended_ = 0;
  for (const std::int64_t number : filled(kept_.numbers, rows_, 1)) appended_ = std::max(appended_, number + 1);
}

}  // namespace stein::policies
