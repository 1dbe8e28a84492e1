#include <stein/agents/control/control_prediction.h>
#include <stein/core/error.h>
#include <stein/core/line_answers.h>
#include <stein/core/rng.h>
#include <stein/envs/action_bounds.h>
#include <stein/runs/measured.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::agents {
namespace {

using inference::MatrixView;
using Json = nlohmann::ordered_json;

/// How actions are chosen.
struct Choice {
  std::int64_t particle = -1;  ///< −1: one that is drawn for each episode
  std::uint64_t seed = 0;
  bool sampled = false;
};

/// Nothing that is answered is nested deeper, an `id` included: what writes JSON calls itself for each level.
constexpr int deepest = 16;

/// Throws Error(data) for what is neither a list nor an object, or nested too deep.
Json parsed(std::string_view line) {
  bool too_deep = false;
  const Json given = Json::parse(
      line,
      [&](int depth, Json::parse_event_t, Json&) {
        too_deep |= depth > deepest;
        return !too_deep;
      },
      false);
  if (too_deep) fail(ErrorKind::data, "expected lists and objects nested at most {} deep", deepest);
  if (!given.is_array() && !given.is_object())
    fail(ErrorKind::data, "expected [number, …] or {{\"observation\": [number, …]}}, got '{}'", line.substr(0, 100));
  return given;
}

class ControlService {
 public:
  /// All of it outlives the service.
  ControlService(const policies::ControlPolicy& policy, const envs::ControlSpec& spec, const envs::ActionBounds& bounds,
                 const Choice& choice)
      : policy_(policy),
        spec_(spec),
        bounds_(bounds),
        choice_(choice),
        presented_(static_cast<std::size_t>(policy.observation_size())),
        outputs_(static_cast<std::size_t>(policy.distribution().outputs())),
        action_(static_cast<std::size_t>(policy.distribution().actions())),
        acted_(action_.size()) {
    if (!bounds.maps()) return;
    for (const envs::Quantity& range : spec.action)
      log_scale_ += static_cast<float>(std::log((range.high - range.low) / 2));
  }

  /// Appends the answer to `line`. Throws Error(numeric) where a policy's outputs are not finite.
  void answer(std::string_view line, std::string& answers) {
    Json answer = Json::object();
    try {
      const Json given = parsed(line);
      if (given.contains("id")) answer["id"] = given["id"];
      begins_ |= given.contains("reset") && given["reset"] == true;  // also where the rest is not understood
      act(observation_of(given), answer);
      ++actions_;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      answer["error"] = error.what();
      if (errors_++ == 0) first_error_ = error.what();
    }
    answers += answer.dump(-1, ' ', false, Json::error_handler_t::replace);
    answers += '\n';
  }

  std::int64_t actions() const { return actions_; }
  std::int64_t episodes() const { return episodes_; }
  std::int64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }

 private:
  /// Throws Error(data) saying what is wrong with the line.
  std::vector<float> observation_of(const Json& given) const {
    if (given.is_array()) return numbers(given);
    for (const auto& [key, value] : given.items())
      if (key != "observation" && key != "id" && !(key == "reset" && value.is_boolean()))
        fail(ErrorKind::data, "expected the keys 'observation', 'reset' (true or false) and 'id', got '{}': {}", key,
             value.dump().substr(0, 100));
    if (!given.contains("observation")) fail(ErrorKind::data, "expected the key 'observation', there is none");
    return numbers(given["observation"]);
  }

  std::vector<float> numbers(const Json& given) const {
    if (!given.is_array() || given.size() != spec_.observation.size()) {
      std::vector<std::string> names;
      for (const envs::Quantity& quantity : spec_.observation) names.push_back(quantity.name);
      fail(ErrorKind::data, "expected the {} numbers of an observation ({}), got {}", names.size(),
           fmt::join(names, ", "), given.is_array() ? fmt::format("{}", given.size()) : given.dump().substr(0, 100));
    }
    std::vector<float> numbers;
    for (const Json& number : given) {
      const float value = number.is_number() ? number.get<float>() : std::nanf("");
      if (!(std::abs(value) <= largest_asked_number))
        fail(ErrorKind::data, "expected a number of at most {:g} for '{}', got {}", largest_asked_number,
             spec_.observation[numbers.size()].name, number.dump().substr(0, 100));
      numbers.push_back(value);
    }
    return numbers;
  }

  /// Adds to the answer what the policy does.
  void act(const std::vector<float>& observation, Json& answer) {
    if (std::exchange(begins_, false)) begin_episode();
    const std::int64_t seen = policy_.observation_size(), width = policy_.distribution().actions();
    const MatrixView<float> presented{presented_.data(), 1, seen},
        outputs{outputs_.data(), 1, policy_.distribution().outputs()}, action{action_.data(), 1, width};
    policy_.present({observation.data(), 1, seen}, presented);
    const auto parameters = policy_.parameters(particle_, presented, outputs);
    for (const float number : outputs_)
      if (!std::isfinite(number))
        fail(ErrorKind::numeric, "particle {}: an output of its network is {}", particle_, number);
    if (choice_.sampled)
      policy_.distribution().draw(
          parameters, {.seed = choice_.seed, .step = static_cast<std::uint64_t>(actions_), .stream = Stream::decision},
          static_cast<std::uint32_t>(particle_), 0, action);
    else
      policy_.distribution().mode(parameters, action);
    if (spec_.discrete()) {
      answer["action"] = static_cast<std::int64_t>(action_.front());
    } else {
      bounds_.effective(action_, acted_);
      answer["action"] = acted_;
    }
    answer["particle"] = particle_;
    if (choice_.sampled) {
      float log_density = 0;
      policy_.distribution().log_density(parameters, {action_.data(), 1, width}, {&log_density, 1});
      answer["log_density"] = log_density - log_scale_;
    }
  }

  void begin_episode() {
    Draws draws({.seed = choice_.seed, .step = static_cast<std::uint64_t>(episodes_++), .stream = Stream::decision},
                0xFFFFFFFF);
    const auto particles = static_cast<std::uint32_t>(policy_.particle_count());
    particle_ = choice_.particle >= 0 ? choice_.particle : std::int64_t{draws.integer(particles)};
  }

  const policies::ControlPolicy& policy_;
  const envs::ControlSpec& spec_;
  const envs::ActionBounds& bounds_;
  Choice choice_;
  std::vector<float> presented_, outputs_, action_, acted_;
  float log_scale_ = 0;        ///< of the task's units of an action in those of the policy
  bool begins_ = true;         ///< an episode, with the next observation
  std::int64_t particle_ = 0;  ///< of the episode under way
  std::int64_t actions_ = 0, episodes_ = 0, errors_ = 0;
  std::string first_error_;
};

}  // namespace

void ControlPrediction::describe(OptionTable& table) {
  table("seed", seed_, "whose policy: a seed of the run; -1: its first", between(-1, 9e15));
  table("particle", particle_,
        "which of its particles; -1: one that is drawn for each episode, where the first line and those with \"reset\" "
        "begin one",
        between(-1, 1e9));
  table("sampled", sampled_, "draw actions, and say their log density; without it the most likely one is taken");
  table("draw_seed", draw_seed_, "of the draws", between(0, 9e15));
}

Json ControlPrediction::perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory&,
                                   const runs::Console& console) {
  const ControlAgent& agent = run.agent_of(seed_);
  run.check_particle(particle_);
  const auto environment = experiment.environment_builder().make(1);
  ControlService service(agent.policy(), environment->spec(), environment->action_bounds(),
                         {.particle = particle_, .seed = static_cast<std::uint64_t>(draw_seed_), .sampled = sampled_});
  LineStream lines(fileno(console.in));
  LineAnswers answers(console.out);
  for (std::string_view line; lines.next(line, console.stop);)
    answers.add(lines, [&](std::string& text) { service.answer(line, text); });
  answers.finish([](std::string&) {});
  if (service.errors() > 0 && service.actions() == 0)
    fail(ErrorKind::data, "no line was understood; the answers say why, beginning with: {}", service.first_error());
  return {{"actions", service.actions()}, {"episodes", service.episodes()}, {"errors", service.errors()}};
}

std::string ControlPrediction::readable(const Json& result) const {
  const auto count = [&](const char* field, std::string_view what) {
    return runs::counted(result[field].get<std::int64_t>(), what);
  };
  return fmt::format("{} in {}, {} not understood\n", count("actions", "action"), count("episodes", "episode"),
                     count("errors", "line"));
}

}  // namespace stein::agents
