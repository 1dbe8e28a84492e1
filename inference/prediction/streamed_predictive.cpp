#include <stein/inference/prediction/streamed_predictive.h>

#include <string>

namespace stein::inference {

StreamedPredictive::StreamedPredictive(Likelihood likelihood, std::int64_t inputs, std::int64_t outputs)
    : empty_(likelihood, inputs, outputs) {
  parts_.push_back({0, empty_});
}

void StreamedPredictive::follow(const StepReport& report) {
  constexpr std::size_t kept_states = 2;
  if (report.kept) {
    parts_.push_back({steps_, empty_});
    if (parts_.size() > kept_states + 1) {
      parts_[0].draws.merge(parts_[1].draws);
      parts_.erase(parts_.begin() + 1);
    }
  }
  if (report.went_back) {
    steps_ -= report.lost_steps;
    while (parts_.size() > 1 && parts_.back().first >= steps_) parts_.pop_back();
    parts_.push_back({steps_, empty_});
  }
  if (report.taken) ++steps_;
}

Predictive StreamedPredictive::total() const {
  Predictive all = parts_.front().draws;
  for (std::size_t k = 1; k < parts_.size(); ++k) all.merge(parts_[k].draws);
  return all;
}

void StreamedPredictive::save(Snapshot& snapshot) const {
  snapshot.put("steps", steps_);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Snapshot part;
    part.put("first", parts_[k].first);
    parts_[k].draws.save(part);
    snapshot.put_part("part" + std::to_string(k), part);
  }
}

void StreamedPredictive::restore(const Snapshot& snapshot) {
  steps_ = snapshot.get_scalar<std::int64_t>("steps");
  parts_.clear();
  for (std::size_t k = 0; snapshot.contains("part" + std::to_string(k) + "/first"); ++k) {
    const Snapshot saved = snapshot.part("part" + std::to_string(k));
    parts_.push_back({saved.get_scalar<std::int64_t>("first"), empty_});
    parts_.back().draws.restore(saved);
  }
  if (parts_.empty()) fail(ErrorKind::data, "the saved state has no predictions");
}

}  // namespace stein::inference
