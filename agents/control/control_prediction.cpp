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
#include <optional>
#include <string_view>
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

/// What a line asks for.
struct Question {
  std::vector<float> observation;
  bool reset = false;
  std::optional<Json> id{};
};

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
        acted_(action_.size()) {}

  /// Appends the answer to `line`.
  void answer(std::string_view line, std::string& answers) {
    Json answer;
    try {
      answer = act(read(line));
      ++actions_;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::numeric) throw;  // of the policy, not of the line
      answer = {{"error", error.what()}};
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
  Question read(std::string_view line) const {
    const Json given = Json::parse(line, nullptr, false);
    if (given.is_discarded() || !(given.is_array() || given.is_object()))
      fail(ErrorKind::data, "expected [number, …] or {{\"observation\": [number, …]}}, got '{}'", line.substr(0, 100));
    Question question;
    if (given.is_array()) {
      question.observation = numbers(given);
      return question;
    }
    for (const auto& [key, value] : given.items()) {
      if (key == "observation")
        question.observation = numbers(value);
      else if (key == "reset" && value.is_boolean())
        question.reset = value.get<bool>();
      else if (key == "id")
        question.id = value;
      else
        fail(ErrorKind::data, "expected the keys 'observation', 'reset' (true or false) and 'id', got '{}': {}", key,
             value.dump().substr(0, 100));
    }
    if (!given.contains("observation")) fail(ErrorKind::data, "expected the key 'observation', there is none");
    return question;
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
      const auto value = number.is_number() ? number.get<float>() : std::nanf("");
      if (!std::isfinite(value))
        fail(ErrorKind::data, "expected a finite number for '{}', got {}", spec_.observation[numbers.size()].name,
             number.dump());
      numbers.push_back(value);
    }
    return numbers;
  }

  Json act(const Question& question) {
    if (question.reset || episodes_ == 0) begin_episode();
    const std::int64_t seen = policy_.observation_size(), width = policy_.distribution().actions();
    const MatrixView<float> presented{presented_.data(), 1, seen},
        outputs{outputs_.data(), 1, policy_.distribution().outputs()}, action{action_.data(), 1, width};
    policy_.present({question.observation.data(), 1, seen}, presented);
    const auto parameters = policy_.parameters(particle_, presented, outputs);
    if (choice_.sampled)
      policy_.distribution().draw(
          parameters,
          {.seed = choice_.seed, .step = static_cast<std::uint64_t>(actions_), .stream = Stream::decision},
          static_cast<std::uint32_t>(particle_), 0, action);
    else
      policy_.distribution().mode(parameters, action);
    for (const float number : action_)
      if (!std::isfinite(number)) fail(ErrorKind::numeric, "particle {}: its action is {}", particle_, number);
    Json answer;
    if (question.id) answer["id"] = *question.id;
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
      answer["log_density"] = log_density;
    }
    return answer;
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
  const ControlAgent& agent =
      seed_ < 0 ? run.repetition(0).agent() : run.of_seed(static_cast<std::uint64_t>(seed_)).agent();
  const std::int64_t particles = agent.policy().particle_count();
  STEIN_CHECK(particle_ < particles, "--particle {}: the run has particles 0 to {}", particle_, particles - 1);
  const auto environment = experiment.environment_builder().make(1);
  ControlService service(
      agent.policy(), environment->spec(), environment->action_bounds(),
      {.particle = particle_, .seed = static_cast<std::uint64_t>(draw_seed_), .sampled = sampled_});
  LineStream lines(fileno(console.in));
  LineAnswers answers(console.out);
  for (std::string_view line; lines.next(line, console.stop);) {
    service.answer(line, answers.text());
    answers.hand_on_unless_more(lines);
  }
  answers.hand_on();
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
