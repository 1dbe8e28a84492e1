#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/line_answers.h>
#include <stein/replay/decision_service.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace stein::replay {
namespace {

using Json = nlohmann::json;

std::optional<float> too_large(const LoggedEvent& event) {
  for (const auto* const numbers : {&event.dense, &event.arm_features}) {
    const auto found = std::ranges::find_if(*numbers, [](float x) { return !(std::abs(x) <= largest_asked_number); });
    if (found != numbers->end()) return *found;
  }
  return std::nullopt;
}

}  // namespace

void DecisionService::answer(std::string_view line, std::string& answers) {
  ++lines_;
  guarded(answers, [&] {
    if (is_outcome(line)) return learn(line, answers);
    take(format_.read_context(line, policy_.arms(), event_), answers);
  });
}

void DecisionService::finish(std::string& answers) {
  guarded(answers, [&] { take(format_.finish_context(policy_.arms(), event_), answers); });
}

void DecisionService::take(const LineVerdict& verdict, std::string& answers) {
  if (verdict.kind == LineVerdict::Kind::bad) refuse(verdict.reason, answers);
  if (verdict.kind == LineVerdict::Kind::event) decide(answers);
}

template <class Step>
void DecisionService::guarded(std::string& answers, const Step& step) {
  const std::size_t before = answers.size();
  try {
    step();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::numeric || error.kind() == ErrorKind::io) throw;
    answers.resize(before);
    refuse(error.what(), answers);
  }
}

bool DecisionService::is_outcome(std::string_view line) {
  // Most contexts are told apart without reading them.
  if (!line.starts_with('{') || line.find("\"reward\"") == std::string_view::npos ||
      line.find("\"id\"") == std::string_view::npos)
    return false;
  const Json read = Json::parse(line, nullptr, false);
  return read.is_discarded() || (read.contains("id") && read.contains("reward"));
}

void DecisionService::learn(std::string_view line, std::string& answers) {
  if (!options_.learn) return refuse("an outcome, but the service does not learn: it takes --learn", answers);
  const Json outcome = Json::parse(line, nullptr, false);
  if (!outcome.is_object() || !outcome.contains("id") || !outcome["id"].is_number_integer() ||
      !outcome.contains("reward") || !outcome["reward"].is_number())
    return refuse(R"(an outcome is {"id": number of the decision, "reward": number})", answers);
  const auto id = outcome["id"].get<std::int64_t>();
  policy_.learn(id, outcome["reward"].get<double>());
  fmt::format_to(std::back_inserter(answers), "{{\"id\":{},\"outcomes\":{}}}\n", id, policy_.outcomes());
}

void DecisionService::decide(std::string& answers) {
  if (const std::optional<float> number = too_large(event_))
    return refuse(fmt::format("{:g} in a context: networks multiply numbers up to {:g}", *number, largest_asked_number),
                  answers);
  const ServedPolicy::Answer answer = policy_.decide(event_, options_.learn);
  ++decisions_;
  fmt::format_to(std::back_inserter(answers), R"({{"id":{},"action":{},"arm":{},"propensity":{},"propensities":[{}])",
                 answer.id, answer.decision.action, Json(policy_.arm_name(answer.decision.action)).dump(),
                 answer.propensity, fmt::join(answer.decision.propensities, ","));
  if (options_.rewards) append_rewards(answers);
  answers += "}\n";
}

void DecisionService::append_rewards(std::string& answers) {
  const auto samples = policy_.posterior_rewards(event_.context());
  if (samples.empty()) {
    answers += R"(,"reward_mean":null,"reward_sd":null)";
    return;
  }
  const auto count = static_cast<double>(samples.size());
  std::vector<double> mean(samples.front().size()), deviation(mean.size());
  for (std::size_t a = 0; a < mean.size(); ++a) {
    for (const auto& sample : samples) mean[a] += sample[a] / count;
    for (const auto& sample : samples) deviation[a] += (sample[a] - mean[a]) * (sample[a] - mean[a]);
    deviation[a] = samples.size() > 1 ? std::sqrt(deviation[a] / (count - 1)) : 0;
  }
  fmt::format_to(std::back_inserter(answers), R"(,"reward_mean":[{}],"reward_sd":[{}])", fmt::join(mean, ","),
                 fmt::join(deviation, ","));
}

void DecisionService::refuse(std::string_view reason, std::string& answers) {
  const std::string error = fmt::format("line {}: {}", lines_, reason);
  if (errors_++ == 0) first_error_ = error;
  answers += Json{{"error", error}}.dump() + "\n";
}

}  // namespace stein::replay
