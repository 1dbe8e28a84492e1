#include <stein/inference/prediction/collector.h>

#include <algorithm>

namespace stein::inference {

std::vector<std::int64_t> selected(Selection selection, std::int64_t samples, std::int64_t candidates) {
  STEIN_CHECK(samples > 0 && samples <= candidates, "cannot keep {} of {} candidates", samples, candidates);
  std::vector<std::int64_t> places;
  for (std::int64_t k = 0; k < samples; ++k) switch (selection) {
      case Selection::forward: places.push_back(k); break;
      case Selection::backward: places.push_back(candidates - samples + k); break;
      case Selection::thinned: places.push_back((k + 1) * candidates / samples - 1); break;
    }
  return places;
}

Collector::Collector(const CollectorOptions& options, std::int64_t steps,
                     const std::function<bool(std::int64_t)>& exploring)
    : run_(steps) {
  const auto [burn_in, thinning, samples, selection] = checked(options);
  STEIN_CHECK(burn_in < steps, "collector: a burn-in of {} steps leaves nothing of a run of {}", burn_in, steps);
  std::vector<std::int64_t> candidates;
  std::int64_t since = 0;
  for (std::int64_t t = burn_in; t < steps; ++t) {
    if (exploring && exploring(t)) continue;
    if (++since < thinning) continue;
    since = 0;
    candidates.push_back(t);
  }
  const std::int64_t count = std::ssize(candidates);
  STEIN_CHECK(samples <= count,
              "collector: a run of {} steps with a burn-in of {} and a thinning of {} has {} candidates, expected at "
              "least the {} samples asked for",
              steps, burn_in, thinning, count, samples);
  for (const std::int64_t place : selected(selection, samples, count))
    plan_.push_back(candidates[static_cast<std::size_t>(place)]);
}

Collection Collector::take(const StepReport& report) {
  Collection now;
  step_ = std::max<std::int64_t>(0, step_ - report.lost_steps);
  for (; next_ > 0 && plan_[static_cast<std::size_t>(next_ - 1)] >= step_; --next_) {
    const bool passed_over = !skipped_.empty() && skipped_.back() == next_ - 1;
    if (passed_over)
      skipped_.pop_back();
    else
      ++now.dropped;
  }
  if (!report.taken) return now;
  STEIN_CHECK(step_ < run_, "collector: it was made for a run of {} steps, this is one more", run_);
  const std::int64_t t = step_++;
  if (done() || plan_[static_cast<std::size_t>(next_)] != t) return now;
  if (report.exploring) skipped_.push_back(next_);
  ++next_;
  now.keep = !report.exploring;
  return now;
}

void Collector::save(Snapshot& snapshot) const {
  snapshot.put("plan", plan_);
  snapshot.put("counts", std::vector<std::int64_t>{run_, step_, next_});
  snapshot.put("skipped", skipped_);
}

void Collector::restore(const Snapshot& snapshot) {
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  if (snapshot.get_vector<std::int64_t>("plan") != plan_ || counts.size() != 3 || counts[0] != run_)
    fail(ErrorKind::data,
         "the saved collector keeps other steps than this one: burn-in, thinning, samples, selection "
         "or length of the run differ");
  step_ = counts[1], next_ = counts[2];
  skipped_ = snapshot.get_vector<std::int64_t>("skipped");
}

}  // namespace stein::inference
