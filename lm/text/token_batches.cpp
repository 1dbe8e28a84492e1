#include <stein/core/error.h>
#include <stein/lm/text/token_batches.h>
#include <stein/runs/measured.h>

#include <algorithm>

namespace stein::lm {

inference::Inputs<float> TokenBatch::inputs() const {
  inference::Inputs<float> made;
  made.tokens = {tokens.data(), rows, steps};
  return made;
}

inference::Batch<float> TokenBatch::batch(double data_size) const {
  inference::Batch<float> made;
  made.inputs = inputs();
  made.targets = {targets.data(), rows, steps};
  made.rows = rows;
  made.size = size();
  made.data_size = data_size;
  made.unit = inference::DataUnit::tokens;
  return made;
}

TokenBatches::TokenBatches(const Stretches& stretches, std::int64_t rows, std::int64_t steps, std::string_view what,
                           Remainder remainder)
    : stretches_(stretches), rows_(rows), steps_(steps) {
  STEIN_CHECK(rows >= 1 && steps >= 1, "batches need at least one row and one step, got {} and {}", rows, steps);
  const std::int64_t count = std::ssize(stretches);
  STEIN_CHECK(count == 1 || (count > 0 && count % rows == 0),
              "the {} part has {} rows of text, which minibatches of {} rows do not divide: expected a batch_size that "
              "divides {}",
              what, count, rows, count);
  std::int64_t shortest = std::ssize(stretches.front());
  for (const auto& stretch : stretches) shortest = std::min(shortest, std::ssize(stretch));
  if (count > 1) passes_ = count / rows;
  const std::int64_t row = count == 1 ? shortest / rows : shortest;
  length_ = row - 1;
  if (remainder == Remainder::dropped) length_ = length_ / steps * steps;
  const std::int64_t least = remainder == Remainder::dropped ? steps : 1;
  if (length_ < 1)
    fail(ErrorKind::data, "the {} part has {}, too few for {} of {}, which take {}", what,
         runs::counted(token_count(stretches), "token"), runs::counted(rows, "row"), runs::counted(least, "step"),
         (count == 1 ? rows : count) * (least + 1));
  batches_of_pass_ = (length_ + steps - 1) / steps;
}

void TokenBatches::fill(std::int64_t c, TokenBatch& batch) const {
  STEIN_CHECK(c >= 0 && c < count(), "expected a batch from 0 to {}, got {}", count() - 1, c);
  const std::int64_t pass = c / batches_of_pass_, first = c % batches_of_pass_ * steps_;
  batch.rows = rows_;
  batch.steps = std::min(steps_, length_ - first);
  batch.fresh = first == 0;
  batch.tokens.resize(static_cast<std::size_t>(batch.size()));
  batch.targets.resize(static_cast<std::size_t>(batch.size()));
  for (std::int64_t b = 0; b < rows_; ++b) {
    const bool one = stretches_.size() == 1;
    const auto& stretch = stretches_[static_cast<std::size_t>(one ? 0 : pass * rows_ + b)];
    const std::int32_t* const from = stretch.data() + (one ? b * (std::ssize(stretch) / rows_) : 0) + first;
    const auto to = static_cast<std::ptrdiff_t>(b * batch.steps);
    std::copy_n(from, batch.steps, batch.tokens.begin() + to);
    std::transform(from + 1, from + 1 + batch.steps, batch.targets.begin() + to,
                   [](std::int32_t token) { return static_cast<float>(token); });
  }
}

}  // namespace stein::lm
