#include <stein/agents/bandits/interaction_window.h>

#include <stein/core/error.h>
#include <stein/core/rng.h>

#include <algorithm>

namespace stein::agents {
namespace {

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

InteractionWindow::InteractionWindow(const envs::BanditSpec& spec, std::int64_t capacity, std::int64_t batch)
    : capacity_(capacity),
      batch_(batch),
      context_size_(spec.active_columns > 0 ? 0 : spec.context_size),
      active_columns_(spec.active_columns) {
  STEIN_CHECK(capacity >= 1, "the buffer must hold at least 1 interaction, got {}", capacity);
  STEIN_CHECK(batch >= 1, "batch must be at least 1, got {}", batch);
  const auto size = [](std::int64_t rows, std::int64_t width) { return static_cast<std::size_t>(rows * width); };
  dense_.resize(size(capacity, context_size_));
  active_.resize(size(capacity, active_columns_));
  actions_.resize(size(capacity, 1));
  rewards_.resize(size(capacity, 1));
  batch_dense_.resize(size(batch, context_size_));
  batch_active_.resize(size(batch, active_columns_));
  batch_actions_.resize(size(batch, 1));
  batch_rewards_.resize(size(batch, 1));
}

void InteractionWindow::append(const envs::Context& context, std::int64_t action, double reward) {
  STEIN_CHECK(std::ssize(context.dense) == context_size_ && std::ssize(context.active) == active_columns_,
              "the window expects contexts of {} dense numbers and {} active columns, got {} and {}", context_size_,
              active_columns_, context.dense.size(), context.active.size());
  std::ranges::copy(context.dense, dense_.begin() + next_ * context_size_);
  std::ranges::copy(context.active, active_.begin() + next_ * active_columns_);
  actions_[static_cast<std::size_t>(next_)] = static_cast<std::int32_t>(action);
  rewards_[static_cast<std::size_t>(next_)] = static_cast<float>(reward);
  next_ = (next_ + 1) % capacity_;
  rows_ = std::min(rows_ + 1, capacity_);
}

policies::InteractionBatch InteractionWindow::draw(std::uint64_t seed, std::uint64_t update) {
  STEIN_CHECK(rows_ > 0, "a minibatch can only be drawn once the window holds an interaction");
  Draws draws({.seed = seed, .step = update, .stream = Stream::minibatch}, 0);
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t row = draws.integer(static_cast<std::uint32_t>(rows_));
    copy_row(dense_, row, batch_dense_, i, context_size_);
    copy_row(active_, row, batch_active_, i, active_columns_);
    copy_row(actions_, row, batch_actions_, i, 1);
    copy_row(rewards_, row, batch_rewards_, i, 1);
  }
  return {.dense = batch_dense_,
          .active = batch_active_,
          .actions = batch_actions_,
          .rewards = batch_rewards_,
          .rows = batch_,
          .window = rows_};
}

void InteractionWindow::save(Snapshot& snapshot) const {
  snapshot.put("rows", rows_);
  snapshot.put("next", next_);
  snapshot.put("dense", filled(dense_, rows_, context_size_), {rows_, context_size_});
  snapshot.put("active", filled(active_, rows_, active_columns_), {rows_, active_columns_});
  snapshot.put("actions", filled(actions_, rows_, 1));
  snapshot.put("rewards", filled(rewards_, rows_, 1));
}

void InteractionWindow::restore(const Snapshot& snapshot) {
  const auto rows = snapshot.get_scalar<std::int64_t>("rows");
  const auto next = snapshot.get_scalar<std::int64_t>("next");
  if (rows < 0 || rows > capacity_ || next < 0 || next >= capacity_)
    fail(ErrorKind::data, "the saved window holds {} interactions (next slot {}), but the buffer has room for {}", rows,
         next, capacity_);
  restore_rows(snapshot, "dense", dense_, rows, context_size_);
  restore_rows(snapshot, "active", active_, rows, active_columns_);
  restore_rows(snapshot, "actions", actions_, rows, 1);
  restore_rows(snapshot, "rewards", rewards_, rows, 1);
  rows_ = rows;
  next_ = next;
}

}  // namespace stein::agents
