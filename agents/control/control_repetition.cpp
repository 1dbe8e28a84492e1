#include <fmt/format.h>
#include <stein/agents/control/control_repetition.h>
#include <stein/core/error.h>
#include <stein/runs/repetitions.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace stein::agents {
namespace {

using Clock = std::chrono::steady_clock;
using runs::mean, runs::quantile;

/// Iterations of an agent before metrics are handed over.
constexpr int block_iterations = 8;

/// So many measurements and more give a share of prior and repulsion that may be judged: of a single one the drive is
/// the gradient of one minibatch, whose length jumps, and at the start a prior around it is 0.
constexpr std::int64_t steady_shares = 10;

/// Beyond it the units of a policy's network are all or nothing, and its gradient is 0: it stays there, and all numbers
/// are finite. Steps of a sensible length do not come near.
constexpr double largest_weight = 1e6;

/// Mean of something of the episodes of each particle that finished any.
template <class Value>
std::vector<double> by_particle(const std::vector<FinishedEpisode>& episodes, std::int64_t particles,
                                const Value& value) {
  std::vector<double> sums(static_cast<std::size_t>(particles)), counts(sums.size()), means;
  for (const FinishedEpisode& episode : episodes) {
    sums[static_cast<std::size_t>(episode.particle)] += value(episode);
    counts[static_cast<std::size_t>(episode.particle)] += 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (counts[i] > 0) means.push_back(sums[i] / counts[i]);
  return means;
}

/// Seeds of evaluations, apart from those of training: another one every time.
std::uint64_t evaluation_seed(std::uint64_t seed, std::uint64_t number) {
  return runs::derived_seed({.seed = seed, .step = number, .stream = Stream::test});
}

/// Of two processes, one after the other.
ControlTiming sum(ControlTiming first, const ControlTiming& then) {
  if (!first.seconds_to_threshold && then.seconds_to_threshold)
    first.seconds_to_threshold = first.training_seconds + *then.seconds_to_threshold;
  first.training_seconds += then.training_seconds;
  return first;
}

std::vector<double> numbers_of(const std::vector<FinishedEpisode>& episodes) {
  std::vector<double> numbers;
  for (const FinishedEpisode& e : episodes)
    for (const double value : {static_cast<double>(e.particle), static_cast<double>(e.length), e.total_reward,
                               e.discounted_reward, e.terminated ? 1.0 : 0.0})
      numbers.push_back(value);
  return numbers;
}

std::vector<FinishedEpisode> episodes_in(const std::vector<double>& numbers) {
  std::vector<FinishedEpisode> episodes;
  for (std::size_t k = 0; k + 5 <= numbers.size(); k += 5)
    episodes.push_back({.particle = static_cast<std::int64_t>(numbers[k]),
                        .length = static_cast<std::int64_t>(numbers[k + 1]),
                        .total_reward = numbers[k + 2],
                        .discounted_reward = numbers[k + 3],
                        .terminated = numbers[k + 4] != 0});
  return episodes;
}

constexpr std::uint64_t final_evaluation = std::uint64_t{1} << 40;

}  // namespace

ControlRepetition::ControlRepetition(std::unique_ptr<ControlAgent> agent,
                                     const envs::ControlEntry::Builder& environment,
                                     const ControlEvaluationOptions& evaluation)
    : agent_(std::move(agent)),
      environment_(environment),
      evaluation_(checked(evaluation)),
      threshold_(environment.spec().threshold) {}

void ControlRepetition::advance(std::int64_t until, const StopToken& stop, runs::Records& records) {
  for (int k = 0; k < block_iterations && agent_->total_steps() < until && !stop.stop_requested(); ++k)
    iterate(records);
}

void ControlRepetition::iterate(runs::Records& records) {
  played_.reset();
  const Clock::time_point start = Clock::now();
  // What is not recorded is not measured either.
  const IterationReport report =
      agent_->iterate(runs::is_recorded(agent_->iterations() + 1) ? Measured::yes : Measured::no);
  timing_.training_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (report.measures) check_weights();
  record(report, records);
  const std::int64_t every = evaluation_.evaluate_every;
  if (every > 0 && agent_->total_steps() / every > evaluations_) evaluate(records);
}

void ControlRepetition::record(const IterationReport& report, runs::Records& records) {
  episodes_.insert(episodes_.end(), report.episodes.begin(), report.episodes.end());
  if (!report.measures) return;
  const std::int64_t particles = agent_->policy().particle_count();
  const auto add = [&](const std::string& tag, double value) { records.number(agent_->total_steps(), tag, value); };
  if (report.measures->parts) record(*report.measures->parts);
  if (report.measures->effective_share) effective_share_ = report.measures->effective_share;
  for (const auto& [tag, value] : report.measures->tagged(agent_->clips())) add(tag, value);
  for (const auto& [tag, value] : agent_->policy().diagnostics()) add(tag, value);
  if (episodes_.empty()) return;
  const auto add_returns = [&](const std::string& tag, const auto& value) {
    const std::vector<double> returns = by_particle(episodes_, particles, value);
    add(tag, mean(returns));
    if (particles == 1) return;
    add(tag + "_median", quantile(returns, 0.5));
    add(tag + "_max", *std::ranges::max_element(returns));
  };
  add_returns("return", [](const FinishedEpisode& e) { return e.total_reward; });
  add_returns("discounted_return", [](const FinishedEpisode& e) { return e.discounted_reward; });
  add("episode_length",
      mean(by_particle(episodes_, particles, [](const FinishedEpisode& e) { return static_cast<double>(e.length); })));
  episodes_.clear();
}

void ControlRepetition::record(const PosteriorParts& parts) {
  parts_ = parts;
  if (!(parts.sum() > 0)) return;
  ++shares_;
  mean_share_ += ((parts.prior + parts.repulsion) / parts.sum() - mean_share_) /
                 static_cast<double>(std::min(shares_, steady_shares));
}

void ControlRepetition::evaluate(runs::Records& records) {
  evaluations_ = agent_->total_steps() / evaluation_.evaluate_every;
  const std::uint64_t seed = evaluation_seed(agent_->seed(), static_cast<std::uint64_t>(evaluations_));
  const std::vector<FinishedEpisode> episodes = play_episodes(
      agent_->policy(), environment_,
      draw_particles(evaluation_.evaluation_episodes, agent_->policy().particle_count(), seed), {.seed = seed});
  const double value = mean(returns_of(episodes));
  records.number(agent_->total_steps(), "evaluation_return", value);
  if (!(value >= threshold_) || steps_to_threshold_ >= 0) return;
  steps_to_threshold_ = agent_->total_steps();
  timing_.seconds_to_threshold = timing_.training_seconds;
}

void ControlRepetition::check_weights() const {
  const double largest = agent_->policy().largest_weight();
  if (!(largest > largest_weight)) return;
  fail(ErrorKind::numeric,
       "seed {}, iteration {}: the training diverged: the policy's weights are finite, but go up to {:.2g}, where no "
       "gradient moves them any more; a shorter step_size may help",
       agent_->seed(), agent_->iterations(), largest);
}

ControlRepetition::Episodes ControlRepetition::play(const Watch& watch) const {
  const std::int64_t particles = agent_->policy().particle_count(), episodes = evaluation_.final_episodes;
  const std::uint64_t seed = evaluation_seed(agent_->seed(), final_evaluation);
  const double discount = agent_->discount();
  const std::vector<std::int64_t> drawn = draw_particles(episodes, particles, seed);
  Episodes played;
  played.deterministic =
      play_episodes(agent_->policy(), environment_, drawn, {.discount = discount, .seed = seed, .stop = watch.stop()});
  watch.advance();
  played.sampled = play_episodes(agent_->policy(), environment_, drawn,
                                 {.deterministic = false, .discount = discount, .seed = seed, .stop = watch.stop()});
  watch.advance();
  played.particle_returns = particle_returns(agent_->policy(), environment_, episodes,
                                             {.discount = discount, .seed = seed + 1, .stop = watch.stop()});
  watch.advance();
  return played;
}

void ControlRepetition::conclude(const StopToken& stop) {
  check_weights();
  if (played_) return;
  Episodes played = play(stop);
  if (!stop.stop_requested()) played_ = std::move(played);
}

ControlOutcome ControlRepetition::outcome(const Watch& watch) const {
  check_weights();
  ControlOutcome outcome{.seed = agent_->seed(), .steps = agent_->total_steps(), .iterations = agent_->iterations()};
  Episodes played = played_ ? *played_ : play(watch);
  outcome.deterministic = std::move(played.deterministic);
  outcome.sampled = std::move(played.sampled);
  outcome.particle_returns = std::move(played.particle_returns);
  if (steps_to_threshold_ >= 0) outcome.steps_to_threshold = steps_to_threshold_;
  outcome.evaluated = evaluations_ > 0;
  outcome.parts = parts_;
  outcome.collapse = collapse();
  outcome.effective_share = effective_share_;
  return outcome;
}

std::optional<double> ControlRepetition::collapse() const {
  for (const auto& [tag, value] : agent_->policy().diagnostics())
    if (tag == "collapse") return value;
  return {};
}

std::optional<std::string> ControlRepetition::warning() const {
  if (auto found = agent_->warning()) return found;
  constexpr double little = 0.001, none = 0.01, alike = 0.99;
  if (shares_ >= steady_shares && 1 - mean_share_ < little)
    return fmt::format(
        "returns are {:.2g} % of what moves the particles: they follow their prior and the repulsion; a smaller alpha "
        "lets returns speak",
        100 * (1 - mean_share_));
  if (shares_ >= steady_shares && mean_share_ < little)
    return fmt::format(
        "prior and repulsion are {:.2g} % of what moves the particles: they are maxima of the return, not draws of a "
        "posterior; a larger alpha makes it one",
        100 * mean_share_);
  const std::optional<double> variance = collapse();
  if (!variance) return {};
  if (effective_share_ > alike)
    return fmt::format(
        "the particles are a posterior in name only: they act alike (effective_share {:.3g}, where 1 is one policy), "
        "whatever their weights are (collapse {:.2g}); a start where policies differ, output_spread=1 or more, keeps "
        "them apart, a larger alpha seldom does",
        *effective_share_, *variance);
  if (effective_share_ || *variance >= none) return {};
  return fmt::format(
      "the particles are a posterior in name only: their weights have {:.2g} of the variance of independent ones "
      "(collapse); a larger alpha, a lower initial_correlation or kernel_sees=behaviour keeps them apart",
      *variance);
}

ControlTiming ControlRepetition::timing() const {
  return sum(earlier_, timing_);
}

void ControlRepetition::add_timing(const ControlTiming& other) {
  earlier_ = sum(earlier_, other);
}

void ControlRepetition::save(Snapshot& snapshot) const {
  snapshot.put_saved("agent", *agent_);
  snapshot.put("episodes", numbers_of(episodes_));
  snapshot.put("evaluations", std::vector<std::int64_t>{evaluations_, steps_to_threshold_});
  if (parts_) snapshot.put("parts", std::vector<double>{parts_->drive, parts_->prior, parts_->repulsion});
  snapshot.put("mean_share", std::vector<double>{static_cast<double>(shares_), mean_share_});
  if (effective_share_) snapshot.put("effective_share", *effective_share_);
  if (!played_) return;
  snapshot.put("played/deterministic", numbers_of(played_->deterministic));
  snapshot.put("played/sampled", numbers_of(played_->sampled));
  snapshot.put("played/particle_returns", played_->particle_returns);
}

void ControlRepetition::restore(const Snapshot& snapshot) {
  agent_->restore(snapshot.part("agent"));
  episodes_ = episodes_in(snapshot.get_vector<double>("episodes"));
  const auto evaluations = snapshot.get_vector<std::int64_t>("evaluations");
  evaluations_ = evaluations.at(0), steps_to_threshold_ = evaluations.at(1);
  shares_ = 0, mean_share_ = 0;
  if (snapshot.contains("mean_share")) {  // older versions have none
    const auto share = snapshot.get_vector<double>("mean_share");
    shares_ = static_cast<std::int64_t>(share.at(0)), mean_share_ = share.at(1);
  }
  effective_share_.reset();
  if (snapshot.contains("effective_share")) effective_share_ = snapshot.get_scalar<double>("effective_share");
  played_.reset();
  if (snapshot.contains("played/sampled"))
    played_ = Episodes{.deterministic = episodes_in(snapshot.get_vector<double>("played/deterministic")),
                       .sampled = episodes_in(snapshot.get_vector<double>("played/sampled")),
                       .particle_returns = snapshot.get_vector<double>("played/particle_returns")};
  parts_.reset();
  if (!snapshot.contains("parts")) return;
  const auto parts = snapshot.get_vector<double>("parts");
  parts_ = {.drive = parts.at(0), .prior = parts.at(1), .repulsion = parts.at(2)};
}

}  // namespace stein::agents
