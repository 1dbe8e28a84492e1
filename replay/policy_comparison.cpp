#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/distributed/exchange.h>
#include <stein/distributed/shared_work.h>
#include <stein/distributed/snapshot_message.h>
#include <stein/replay/log_facts.h>
#include <stein/replay/policy_comparison.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace stein::replay {
namespace {

using Clock = std::chrono::steady_clock;

/// A policy that chose the logged arm counts for 1 / p, that of the log for 1, any other for nothing.
EstimatorTerms replay_terms(const LoggedEvent& event, const Choice& choice) {
  const double weight = choice.of_log ? event.weight : choice.accepted ? event.weight / event.propensity : 0;
  return {.numerator = weight * event.reward, .denominator = weight, .weight = weight};
}

/// Of an event that stands for `weight` of them.
EstimatorTerms weighted(const EstimatorTerms& terms, double weight) {
  return {weight * terms.numerator, weight * terms.denominator, weight * terms.weight};
}

template <class Parts>
void save_parts(Snapshot& snapshot, const std::string& name, const Parts& parts) {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    snapshot.put_saved(name + std::to_string(k), parts[k]);
  }
}

template <class Parts>
void restore_parts(const Snapshot& snapshot, const std::string& name, Parts& parts) {
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k].restore(snapshot.part(name + std::to_string(k)));
}

/// The estimate by a way, with the error that another way measures for it where there is one.
template <class Of>
ValueEstimate with_error(const std::vector<std::string>& ways, const std::string& judge, std::size_t way,
                         const Of& of) {
  if (judge.empty()) return of(way);
  return with_error_of(of(static_cast<std::size_t>(std::ranges::find(ways, judge) - ways.begin())), of(way));
}

/// What a policy made of the events since the last exchange, for the ranks that do not play it.
void write_verdicts(const PolicyComparison::Contender& contender, std::string& message) {
  distributed::write_list(contender.verdicts, message);
  distributed::write_list(contender.terms, message);
  distributed::write_numbers(std::span(&contender.last_seconds, 1), message);
}

void read_verdicts(PolicyComparison::Contender& contender, std::string_view& message) {
  distributed::read_list(message, contender.verdicts);
  distributed::read_list(message, contender.terms);
  distributed::read_numbers(message, std::span(&contender.last_seconds, 1));
}

std::string pair_name(std::size_t k) {
  return "pair" + std::to_string(k);
}

}  // namespace

Interval PolicyComparison::interval(std::size_t contender) const {
  const JudgedPolicy& policy = *contenders_[contender].policy;
  const std::optional<Interval> at_all_times = policy.interval();
  return at_all_times ? *at_all_times : policy.mean().at(level_).interval;
}

PolicyComparison::PolicyComparison(const ComparisonOptions& options, const envs::BanditSpec& spec)
    : bounds_(checked(options.bounds)), level_(options.level) {
  for (const std::string& name : options.estimators) {
    STEIN_CHECK(std::ranges::find(ways_, name) == ways_.end(), "option 'estimators' names '{}' twice", name);
    add_way(name);
  }
  shown_ = ways_.size();
  for (std::size_t i = 0; i < estimators_.size(); ++i) {
    const std::string& judge = estimators_[i]->error_by;
    if (!judge.empty() && std::ranges::find(ways_, judge) == ways_.end()) add_way(judge);
  }
  if (std::ranges::any_of(estimators_, &EstimatorEntry::needs_model)) model_.emplace(spec);
}

void PolicyComparison::add_way(const std::string& estimator) {
  estimators_.push_back(&replay::estimators().at(estimator));
  ways_.push_back(estimator);
}

ValueEstimate PolicyComparison::estimate(std::size_t contender, std::size_t way) const {
  return with_error(ways_, way == 0 ? "" : estimators_[way - 1]->error_by, way,
                    [&](std::size_t k) { return contenders_[contender].estimates[k].estimate().at(level_); });
}

ValueEstimate PolicyComparison::difference(std::size_t pair, std::size_t way) const {
  return with_error(ways_, way == 0 ? "" : estimators_[way - 1]->error_by, way,
                    [&](std::size_t k) { return pairs_[pair].differences[k].difference().at(level_); });
}

void PolicyComparison::add(std::string name, std::unique_ptr<JudgedPolicy> policy) {
  for (std::size_t i = 0; i < contenders_.size(); ++i)
    pairs_.push_back({i, contenders_.size(), std::vector<PairedValues>(ways_.size())});
  contenders_.push_back(
      {.name = std::move(name), .policy = std::move(policy), .estimates = std::vector<ValueEstimator>(ways_.size())});
}

void PolicyComparison::take(std::span<const LoggedEvent> events) {
  predictions_.clear();
  if (model_)
    for (const LoggedEvent& event : events) model_->take(event, predictions_);
  for (const LoggedEvent& event : events) outcomes_.push_back({event.reward, uniform_terms(event)});
  const distributed::PartRange own = distributed::parts_of(*ranks_, std::ssize(contenders_));
  const bool alone = ranks_->size() == 1;
  parallel_for(own.end - own.first, [&](std::int64_t k) {
    Contender& contender = contenders_[static_cast<std::size_t>(own.first + k)];
    choose(contender, events);
    if (alone) add_up(contender, outcomes_.size());
  });
  if (alone) add_up_pairs(outcomes_.size());
}

void PolicyComparison::exchange(const std::optional<distributed::Failure>& own) {
  const auto contender = [&](std::int64_t i) -> Contender& { return contenders_[static_cast<std::size_t>(i)]; };
  distributed::exchange_parts(
      *ranks_, std::ssize(contenders_), own,
      [&](std::int64_t i, std::string& message) { write_verdicts(contender(i), message); },
      [&](std::int64_t i, std::string_view& message) {
        read_verdicts(contender(i), message);
        if (contender(i).verdicts.size() != outcomes_.size())
          fail(ErrorKind::data, "one rank has read {} of the log and another {}: the log has changed",
               contender(i).verdicts.size(), outcomes_.size());
      });
}

void PolicyComparison::add_up(std::int64_t count) {
  const std::size_t end = added_up_ + static_cast<std::size_t>(count);
  STEIN_CHECK(count >= 0 && end <= outcomes_.size(), "expected to add up 0 to {} events, got {}",
              outcomes_.size() - added_up_, count);
  parallel_for(std::ssize(contenders_), [&](std::int64_t i) { add_up(contenders_[static_cast<std::size_t>(i)], end); });
  add_up_pairs(end);
}

void PolicyComparison::choose(Contender& contender, std::span<const LoggedEvent> events) const {
  const auto start = Clock::now();
  const auto wanted = estimators_.empty() ? policies::Propensities::none : policies::Propensities::exact;
  std::size_t predicted = 0;
  std::int64_t foreseen = 0;
  for (std::int64_t i = 0; i < std::ssize(events); ++i) {
    const LoggedEvent& event = events[static_cast<std::size_t>(i)];
    if (i == foreseen) foreseen += contender.policy->foresee(events.subspan(static_cast<std::size_t>(i)));
    const Choice choice = contender.policy->decide(event, wanted);
    contender.verdicts.push_back({.accepted = choice.accepted});
    contender.terms.push_back(replay_terms(event, choice));
    if (estimators_.empty()) continue;
    const auto width = model_ ? static_cast<std::size_t>(event.choices()) : 0;
    const JudgedEvent judged = judge(event, choice, std::span(predictions_).subspan(predicted, width));
    predicted += width;
    contender.verdicts.back().weight = judged.weight();
    for (const EstimatorEntry* estimator : estimators_)
      contender.terms.push_back(weighted(estimator->terms(judged, bounds_), event.weight));
  }
  contender.last_seconds += std::chrono::duration<double>(Clock::now() - start).count();
}

void PolicyComparison::add_up(Contender& contender, std::size_t end) const {
  for (std::size_t k = added_up_; k < end; ++k) {
    contender.policy->count(outcomes_[k].reward, contender.verdicts[k].accepted);
    contender.with_uniform.add(contender.terms[k * ways_.size()], outcomes_[k].uniform);
    if (!estimators_.empty()) contender.weights.add(contender.verdicts[k].weight);
  }
  for (std::size_t k = added_up_ * ways_.size(); k < end * ways_.size(); ++k)
    contender.estimates[k % ways_.size()].add(contender.terms[k]);
  contender.seconds += std::exchange(contender.last_seconds, 0);
}

void PolicyComparison::add_up_pairs(std::size_t end) {
  parallel_for(std::ssize(pairs_), [&](std::int64_t i) {
    Pair& pair = pairs_[static_cast<std::size_t>(i)];
    const auto &first = contenders_[pair.first].terms, &second = contenders_[pair.second].terms;
    for (std::size_t k = added_up_ * ways_.size(); k < end * ways_.size(); ++k)
      pair.differences[k % ways_.size()].add(first[k], second[k]);
  });
  added_up_ = end;
  if (end < outcomes_.size()) return;
  for (Contender& contender : contenders_) contender.verdicts.clear(), contender.terms.clear();
  outcomes_.clear();
  added_up_ = 0;
}

bool PolicyComparison::sees_arm_features() const {
  return model_ || std::ranges::any_of(contenders_, [](const Contender& c) { return c.policy->sees_arm_features(); });
}

void PolicyComparison::share_with(distributed::Communicator& ranks) {
  ranks_ = &ranks;
}

void PolicyComparison::bring_together() {
  const auto count = static_cast<std::int64_t>(contenders_.size());
  const auto [first, end] = distributed::parts_of(*ranks_, count);
  Snapshot own;
  for (std::int64_t i = first; !ranks_->is_root() && i < end; ++i)
    own.put_saved(contenders_[static_cast<std::size_t>(i)].name, *contenders_[static_cast<std::size_t>(i)].policy);
  const std::vector<std::string> played = ranks_->gather(distributed::to_message(own));
  for (std::size_t rank = 1; rank < played.size(); ++rank) {
    const Snapshot theirs = distributed::from_message(played[rank]);
    for (Contender& contender : contenders_)
      if (theirs.contains(contender.name + "/events")) contender.policy->restore(theirs.part(contender.name));
  }
}

JudgedEvent PolicyComparison::judge(const LoggedEvent& event, const Choice& choice,
                                    std::span<const double> predictions) const {
  JudgedEvent judged{
      .reward = event.reward, .logged_propensity = event.propensity, .target_propensity = choice.propensity};
  if (predictions.empty()) return judged;
  judged.predicted = predictions[static_cast<std::size_t>(event.place())];
  // Of the policy that made the log only the arm that it drew is known: a draw from what is summed elsewhere.
  judged.expected = choice.propensities.empty()
                        ? judged.predicted
                        : std::inner_product(predictions.begin(), predictions.end(), choice.propensities.begin(), 0.0);
  return judged;
}

void PolicyComparison::save(Snapshot& snapshot) const {
  for (const Contender& contender : contenders_) {
    Snapshot part;
    part.put_saved("with_uniform", contender.with_uniform);
    part.put_saved("policy", *contender.policy);
    part.put_saved("weights", contender.weights);
    save_parts(part, "estimate", contender.estimates);
    snapshot.put_part(contender.name, part);
  }
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    Snapshot part;
    save_parts(part, "difference", pairs_[k].differences);
    snapshot.put_part(pair_name(k), part);
  }
  if (!model_) return;
  snapshot.put_saved("reward_model", *model_);
}

void PolicyComparison::restore(const Snapshot& snapshot) {
  for (Contender& contender : contenders_) {
    const Snapshot part = snapshot.part(contender.name);
    contender.policy->restore(part.part("policy"));
    contender.weights.restore(part.part("weights"));
    contender.with_uniform.restore(part.part("with_uniform"));
    restore_parts(part, "estimate", contender.estimates);
  }
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const Snapshot part = snapshot.part(pair_name(k));
    restore_parts(part, "difference", pairs_[k].differences);
  }
  if (model_) model_->restore(snapshot.part("reward_model"));
}

}  // namespace stein::replay
