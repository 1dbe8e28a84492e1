#include <fmt/ranges.h>
#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/replay_run.h>
#include <stein/runs/data_checksums.h>
#include <stein/runs/measured.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace stein::replay {
namespace {

using Json = nlohmann::ordered_json;
using runs::number;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// A sum of counts, or a mean of such: 3, 3.5.
Json count_or_mean(double value) {
  constexpr double exact = 1LL << 53;
  const bool whole = value == std::floor(value) && std::abs(value) < exact;
  return whole ? Json(static_cast<std::int64_t>(value)) : number(value);
}

/// [low, high].
Json ends(const Interval& interval) {
  return {number(interval.low), number(interval.high)};
}

/// The mean of a number of every repetition.
template <class Of>
double mean_over(const ReplayRun& run, const Of& of) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < run.count(); ++i) values.push_back(of(run.repetition(i)));
  return runs::mean(values);
}

/// Means over repetitions: of deviations too, since the mean of numbers spreads no more than that, however they hang
/// together.
template <class Of>
ValueEstimate mean_estimate(const ReplayRun& run, const Of& of) {
  const auto mean = [&](auto field) {
    return mean_over(run, [&](const ReplayRepetition& repetition) { return field(of(repetition)); });
  };
  return {.value = mean([](const ValueEstimate& e) { return e.value; }),
          .standard_error = mean([](const ValueEstimate& e) { return e.standard_error; }),
          .interval = {mean([](const ValueEstimate& e) { return e.interval.low; }),
                       mean([](const ValueEstimate& e) { return e.interval.high; })},
          .effective_sample_size = mean([](const ValueEstimate& e) { return e.effective_sample_size; })};
}

}  // namespace

ReplayRun::ReplayRun(runs::SeedRange seeds, const MakeReplay& make_repetition, Facts facts)
    : RunOf(seeds, [&](std::uint64_t seed) { return make_repetition(seed); }), facts_(std::move(facts)) {}

std::string ReplayRun::log_name() const {
  const std::string first = file_name(facts_.files.front());
  return facts_.files.size() == 1 ? first : fmt::format("{} and {} more", first, facts_.files.size() - 1);
}

std::string ReplayRun::source() const {
  return fmt::format("log {} ({})", log_name(), repetition(0).reader().spec().source);
}

Json ReplayRun::protocol() const {
  Json policies = Json::array(), temperatures = Json::object(), bytes = Json::object();
  for (const auto& contender : repetition(0).comparison().contenders()) {
    policies.push_back(contender.name);
    const std::optional<double> temperature = contender.policy->temperature();
    temperatures[contender.name] = temperature ? Json(*temperature) : Json(nullptr);
  }
  for (std::size_t k = 0; k < facts_.files.size(); ++k) bytes[label(k)] = std::filesystem::file_size(facts_.files[k]);
  return {{"env", log_name()},
          {"format", facts_.format},
          {"env_options", facts_.format_options},
          {"log", facts_.files},
          {"bytes", bytes},
          {"columns", repetition(0).reader().format().context_names()},
          {"policies", policies},
          {"bandit", Json::parse(decision_log_head(repetition(0).reader().spec()))},
          {"N", fmt::format("accepted events in the window, at most {}", facts_.window)},
          {"T", temperatures}};
}

std::map<std::string, std::string> ReplayRun::data_checksums() const {
  std::map<std::string, std::string> sums;
  for (std::size_t k = 0; k < facts_.files.size(); ++k) sums[label(k)] = sha256_file(facts_.files[k]);
  return sums;
}

std::string ReplayRun::label(std::size_t k) const {
  const std::string name = file_name(facts_.files[k]);
  const auto same = [&](const std::string& file) { return file_name(file) == name; };
  return std::ranges::count_if(facts_.files, same) == 1 ? name : facts_.files[k];
}

void ReplayRun::check_manifest(const Json& manifest) const {
  runs::check_data_checksums(manifest, data_checksums(), "the log",
                             "events would count twice or be lost; begin a new run");
}

double ReplayRun::seconds(std::size_t policy) const {
  double sum = 0;
  for (std::int64_t i = 0; i < count(); ++i) sum += repetition(i).comparison().contenders()[policy].seconds;
  const auto earlier = earlier_seconds_.find(repetition(0).comparison().contenders()[policy].name);
  return sum + (earlier == earlier_seconds_.end() ? 0 : earlier->second);
}

Json ReplayRun::cost() const {
  Json seconds = Json::object();
  const auto& contenders = repetition(0).comparison().contenders();
  for (std::size_t i = 0; i < contenders.size(); ++i) seconds[contenders[i].name] = this->seconds(i);
  return seconds;
}

void ReplayRun::add_cost(const Json& earlier) {
  for (const auto& [policy, seconds] : earlier.items()) earlier_seconds_[policy] += seconds.get<double>();
}

Json ReplayRun::log_summary() const {
  const ReplayRepetition& first = repetition(0);  // all of them read the same
  const LogFacts& facts = first.facts();
  const envs::BanditSpec& spec = first.reader().spec();
  const bool bounded = spec.bounded;
  const ValueEstimate uniform = facts.uniform_value().at(facts_.level);
  return {{"files", facts_.files},
          {"events", facts.events()},
          {"bad_lines", first.reader().bad_line_count()},
          {"bad_lines_by_reason", first.reader().bad_lines()},
          {"arms", first.reader().arms().size()},
          {"reward_bounds", bounded ? Json{spec.reward_low, spec.reward_high} : Json(nullptr)},
          {"reward", number(facts.reward() / static_cast<double>(facts.events()))},
          {"uniformly_logged", facts.uniform()},
          {"uniform",
           {{"value", number(uniform.value)},
            {"interval", ends(uniform.interval)},
            {"effective_sample_size", number(uniform.effective_sample_size)}}}};
}

Json ReplayRun::refusal(const ValueEstimate& estimate) const {
  const double size = estimate.effective_sample_size;
  if (size >= facts_.smallest_sample) return nullptr;
  const std::int64_t events = repetition(0).facts().events();
  if (static_cast<double>(events) < facts_.smallest_sample)
    return fmt::format("the log has {}, fewer than smallest_sample = {:g}", runs::counted(events, "event"),
                       facts_.smallest_sample);
  return fmt::format(
      "the log's {} events say as much of this policy as {:.3g} events of its own would (effective sample size), fewer "
      "than smallest_sample = {:g}: a few of them have most of the weight",
      events, size, facts_.smallest_sample);
}

Json ReplayRun::estimates(std::size_t policy) const {
  Json all = Json::object();
  const auto ways = repetition(0).comparison().ways();
  for (std::size_t way = 1; way < ways.size(); ++way) {
    const ValueEstimate estimate = mean_estimate(
        *this, [&](const ReplayRepetition& repetition) { return repetition.comparison().estimate(policy, way); });
    const Json refused = refusal(estimate);
    Json& json = all[ways[way]] = {{"value", refused.is_null() ? number(estimate.value) : Json(nullptr)},
                                   {"interval", refused.is_null() ? ends(estimate.interval) : Json(nullptr)},
                                   {"effective_sample_size", number(estimate.effective_sample_size)}};
    if (!refused.is_null()) json["refused"] = refused;
  }
  return all;
}

Json ReplayRun::policy_summary(std::size_t policy) const {
  using Contender = PolicyComparison::Contender;
  const auto of_contender = [&](auto field) {
    return mean_over(*this, [&](const ReplayRepetition& repetition) {
      return static_cast<double>(field(repetition.comparison().contenders()[policy]));
    });
  };
  const auto of_interval = [&](auto end) {
    return mean_over(*this,
                     [&](const ReplayRepetition& repetition) { return end(repetition.comparison().interval(policy)); });
  };
  const auto of = [&](auto field) { return of_contender([&](const Contender& c) { return field(*c.policy); }); };
  const auto events = of([](const JudgedPolicy& p) { return p.events(); });
  const auto accepted = of([](const JudgedPolicy& p) { return p.accepted(); });
  std::vector<double> rates;
  for (std::int64_t i = 0; i < count(); ++i) {
    const JudgedPolicy& judged = *repetition(i).comparison().contenders()[policy].policy;
    rates.push_back(judged.mean_reward());
  }
  const ValueEstimate relative = mean_estimate(
      *this, [&](const ReplayRepetition& repetition) { return repetition.comparison().relative(policy); });
  const bool known = refusal(relative).is_null();
  const double rate = runs::mean(rates), seconds = this->seconds(policy);
  Json json{{"policy", repetition(0).comparison().contenders()[policy].name},
            {"events", repetition(0).facts().events()},
            {"accepted", count_or_mean(accepted)},
            {"acceptance_rate", number(accepted / events)},
            {"clicks", count_or_mean(of([](const JudgedPolicy& p) { return p.reward(); }))},
            {"ctr", number(rate)},
            {"interval", ends({of_interval([](const Interval& i) { return i.low; }),
                               of_interval([](const Interval& i) { return i.high; })})},
            {"relative", known ? number(relative.value) : Json(nullptr)},
            {"relative_interval", known ? ends(relative.interval) : Json(nullptr)},
            {"events_per_second", number(events * static_cast<double>(count()) / seconds)},
            {"ctr_over_seeds", runs::measured(rates)}};
  if (repetition(0).comparison().ways().size() == 1) return json;
  const auto weights = [&](auto field) {
    return number(of_contender([&](const Contender& c) { return field(c.weights); }));
  };
  json["estimates"] = estimates(policy);
  json["weights"] = {{"mean", weights([](const WeightDiagnostics& w) { return w.mean(); })},
                     {"largest", weights([](const WeightDiagnostics& w) { return w.largest(); })},
                     {"share_of_zeros", weights([](const WeightDiagnostics& w) { return w.share_of_zeros(); })}};
  return json;
}

Json ReplayRun::differences() const {
  Json all = Json::array();
  const PolicyComparison& comparison = repetition(0).comparison();
  for (std::size_t pair = 0; pair < comparison.pairs().size(); ++pair) {
    const std::size_t first = comparison.pairs()[pair].first, second = comparison.pairs()[pair].second;
    for (std::size_t way = 0; way < comparison.ways().size(); ++way) {
      const ValueEstimate estimate = mean_estimate(*this, [&, pair, way](const ReplayRepetition& repetition) {
        return repetition.comparison().difference(pair, way);
      });
      const Json refused = refusal(estimate);
      all.push_back({{"first", comparison.contenders()[first].name},
                     {"second", comparison.contenders()[second].name},
                     {"by", comparison.ways()[way]},
                     {"difference", refused.is_null() ? number(estimate.value) : Json(nullptr)},
                     {"interval", refused.is_null() ? ends(estimate.interval) : Json(nullptr)}});
      if (!refused.is_null()) all.back()["refused"] = refused;
    }
  }
  return all;
}

std::string ReplayRun::warning_of_weights(const std::string& policy, double mean, double error,
                                          double effective) const {
  // 5 standard errors by chance: 6e-7. What digits of the log's propensities leave open is no reason to warn.
  constexpr double most_errors = 5, rounding = 0.02;
  if (effective < facts_.smallest_sample || std::abs(mean - 1) <= std::max(most_errors * error, rounding)) return "";
  const LogFacts& facts = repetition(0).facts();
  const std::string certain = facts.certain() > 0 ? fmt::format(" ({} of its {} decisions were made with certainty)",
                                                                facts.certain(), facts.events())
                                                  : "";
  return fmt::format(
      "the weights of {} have the mean {:.3f} ± {:.3f}, expected is 1: {}, and what is estimated from them is biased",
      policy, mean, error,
      mean < 1 ? fmt::format("the log hardly ever chose arms that {} would choose{}, or its propensities are not those "
                             "that its arms were drawn with",
                             policy, certain)
               : "the propensities of the log are not those that its arms were drawn with");
}

std::string ReplayRun::warning_of_forced_pulls(const PolicyComparison::Contender& contender) const {
  constexpr double worth_a_warning = 0.5;
  const ReplayRepetition& first = repetition(0);
  const double share = static_cast<double>(contender.policy->forced()) / static_cast<double>(first.facts().events());
  if (share <= worth_a_warning) return "";
  const auto& arms = first.facts().arms();
  std::size_t rarest = 0;
  for (std::size_t arm = 1; arm < arms.size(); ++arm)
    if (arms[arm].pulls < arms[rarest].pulls) rarest = arm;
  return fmt::format(
      "{} spent {:.1f} % of the events on the first pulls of arms, which `forced_pulls` asks for, and waited for arms "
      "that "
      "the log hardly has: '{}' was logged {}; forced_pulls=0 leaves first pulls to the policy, and `arm_names` says "
      "which "
      "arms there are",
      contender.name, 100 * share, first.reader().arms().name(static_cast<std::int64_t>(rarest)),
      arms[rarest].pulls == 1 ? "once" : fmt::format("{} times", arms[rarest].pulls));
}

std::vector<std::string> ReplayRun::warnings_of_log() const {
  constexpr double worth_a_warning = 0.01;
  const ReplayRepetition& first = repetition(0);
  const LogFacts& facts = first.facts();
  std::vector<std::string> found;
  const auto bad = static_cast<double>(first.reader().bad_line_count());
  const double share = bad / (bad + static_cast<double>(facts.events()));
  if (share > worth_a_warning)
    found.push_back(fmt::format(
        "{:.3g} % of the lines are bad and were passed over ({}): where what makes them bad hangs together with what "
        "an event paid, every number is biased; --strict stops at the first",
        100 * share, reasons_text(first.reader().bad_lines())));
  const ValueEstimate uniform = facts.uniform_value().at(facts_.level);
  if (const Json refused = refusal(uniform); !refused.is_null())
    found.push_back(fmt::format("what arms drawn uniformly earn is not known, and nothing is divided by it: {}",
                                refused.get<std::string>()));
  found.push_back(warning_of_weights("arms drawn uniformly", facts.uniform_weights().mean(),
                                     facts.uniform_weights().standard_error(), uniform.effective_sample_size));
  return found;
}

std::vector<std::string> ReplayRun::warnings() const {
  if (repetition(0).facts().events() == 0) return {};
  std::vector<std::string> found = warnings_of_log();
  for (const auto& contender : repetition(0).comparison().contenders())
    if (const WeightDiagnostics& weights = contender.weights; weights.count() > 0 && contender.name != "uniform")
      found.push_back(warning_of_weights(contender.name, weights.mean(), weights.standard_error(),
                                         weights.effective_sample_size()));
  for (const std::string& warning : repetition(0).reader().format().warnings()) found.push_back(warning);
  for (const auto& contender : repetition(0).comparison().contenders())
    found.push_back(warning_of_forced_pulls(contender));
  std::erase(found, "");
  for (std::string& warning : Run::warnings()) found.push_back(std::move(warning));
  return found;
}

Json ReplayRun::summarize(const Watch&) {
  Json policies = Json::array();
  for (std::size_t i = 0; i < repetition(0).comparison().contenders().size(); ++i)
    policies.push_back(policy_summary(i));
  return {{"env", log_name()},     {"format", facts_.format}, {"log", log_summary()},
          {"level", facts_.level}, {"policies", policies},    {"differences", differences()}};
}

void ReplayRun::write_results(const RunDirectory& directory) {
  const ReplayRepetition& first = repetition(0);
  Json arms = Json::array(), bin_ends = Json::array();
  for (std::size_t a = 0; a < first.facts().arms().size(); ++a) {
    const LogFacts::Arm& arm = first.facts().arms()[a];
    if (arm.first < 0) continue;
    arms.push_back({{"arm", first.reader().arms().name(static_cast<std::int64_t>(a))},
                    {"first", arm.first},
                    {"last", arm.last},
                    {"pulls", arm.pulls},
                    {"reward", arm.reward}});
  }
  for (std::int64_t bin = 0; bin < LogFacts::bins; ++bin) bin_ends.push_back(LogFacts::bin_end(bin));
  const Json log{{"arms", arms}, {"propensities", {{"ends", bin_ends}, {"counts", first.facts().propensities()}}}};
  write_file_atomically(directory.file("log.json"), log.dump() + "\n");
}

}  // namespace stein::replay
