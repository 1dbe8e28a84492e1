#include <stein/core/error.h>
#include <stein/runs/validation.h>

#include <cmath>
#include <limits>

namespace stein::runs {

Validation::Validation(const Options& options, Better better) : options_(checked(options)), better_(better) {
  STEIN_CHECK(options.patience == 0 || options.validate_every > 0,
              "patience = {} counts validations, and there are none: set validate_every", options.patience);
}

bool Validation::due(std::int64_t steps_done) const {
  return options_.validate_every > 0 && steps_done / options_.validate_every > validations_;
}

std::int64_t Validation::next_due(std::int64_t steps_done) const {
  if (options_.validate_every == 0) return std::numeric_limits<std::int64_t>::max();
  return (steps_done / options_.validate_every + 1) * options_.validate_every;
}

bool Validation::add(std::int64_t steps_done, double score, const Snapshot& state) {
  if (options_.validate_every > 0) validations_ = steps_done / options_.validate_every;
  const bool first = !best_.has_value();
  const bool better =
      std::isfinite(score) && (first || (better_ == Better::lower ? score < best_->score : score > best_->score));
  since_best_ = better ? 0 : since_best_ + 1;
  if (!better) return false;
  best_ = {steps_done, score};
  state_ = state;
  return true;
}

const Snapshot& Validation::best_state() const {
  STEIN_CHECK(best_.has_value(), "there is no best state before a validation has given a finite score");
  return state_;
}

void Validation::save(Snapshot& snapshot) const {
  snapshot.put("validations", std::vector<std::int64_t>{validations_, since_best_, best_ ? best_->step : -1});
  if (!best_) return;
  snapshot.put("best_score", best_->score);
  snapshot.put_part("best", state_);
}

void Validation::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("validations");
  if (counts.size() != 3) fail(ErrorKind::data, "validations: expected 3 counts, found {}", counts.size());
  validations_ = counts[0];
  since_best_ = counts[1];
  best_.reset();
  state_ = {};
  if (counts[2] < 0) return;
  best_ = {counts[2], snapshot.get_scalar<double>("best_score")};
  state_ = snapshot.part("best");
}

std::optional<Snapshot> Validation::saved_best(const Snapshot& snapshot) {
  if (!snapshot.contains("best_score")) return std::nullopt;
  return snapshot.part("best");
}

}  // namespace stein::runs
