#include <stein/core/error.h>
#include <stein/envs/vector_environment.h>

#include <cmath>

namespace stein::envs {
namespace {

/// A task that has only a VectorEnvironment: its slot 0.
class SingleSlot final : public SingleEnvironment {
 public:
  explicit SingleSlot(std::unique_ptr<VectorEnvironment> environment) : environment_(std::move(environment)) {
    environment_->set_auto_reset(false);
  }

  const ControlSpec& spec() const override { return environment_->spec(); }
  void reset(std::uint64_t seed) override {
    environment_->reset(seed);
    ended_ = false;
  }
  void set_state(std::span<const double> state) override {
    check_finite_state(spec(), state);
    environment_->reset(0);
    environment_->set_state(0, state);
    ended_ = false;
  }
  std::vector<double> state() const override { return environment_->state(0); }
  std::vector<double> observation() const override {
    const auto seen = environment_->observations();
    return {seen.begin(), seen.end()};
  }
  Transition step(std::span<const double> action) override {
    check_not_ended(spec(), ended_);
    environment_->step(std::vector<float>(action.begin(), action.end()));
    const Transition transition{.reward = environment_->rewards()[0],
                                .terminated = environment_->terminated()[0] != 0,
                                .truncated = environment_->truncated()[0] != 0};
    ended_ = transition.terminated || transition.truncated;
    return transition;
  }

 private:
  std::unique_ptr<VectorEnvironment> environment_;
  bool ended_ = false;
};

std::string names_of(const std::vector<Quantity>& quantities) {
  std::string names;
  for (const Quantity& quantity : quantities) {
    names += names.empty() ? quantity.name : ", " + quantity.name;
    if (!quantity.unit.empty()) names += fmt::format(" [{}]", quantity.unit);
  }
  return names;
}

}  // namespace

std::unique_ptr<SingleEnvironment> single_slot_of(std::unique_ptr<VectorEnvironment> environment) {
  return std::make_unique<SingleSlot>(std::move(environment));
}

void check_state(const ControlSpec& spec, std::span<const double> state) {
  STEIN_CHECK(state.size() == spec.state.size(), "{}: expected a state of {} numbers, got {}: {}", spec.name,
              spec.state.size(), state.size(), names_of(spec.state));
}

void check_finite_state(const ControlSpec& spec, std::span<const double> state) {
  check_state(spec, state);
  for (std::size_t k = 0; k < state.size(); ++k)
    STEIN_CHECK(std::isfinite(state[k]), "{}: expected a finite '{}' in the state, got {}", spec.name,
                spec.state[k].name, state[k]);
}

void check_outcome(const ControlSpec& spec, std::span<const double> observation, double reward, std::int64_t step) {
  for (std::size_t k = 0; k < observation.size(); ++k)
    if (!std::isfinite(observation[k]))
      fail(ErrorKind::numeric, "{}: the observation '{}' is {} after step {}", spec.name, spec.observation[k].name,
           observation[k], step);
  if (!std::isfinite(reward)) fail(ErrorKind::numeric, "{}: the reward is {} after step {}", spec.name, reward, step);
}

void check_not_ended(const ControlSpec& spec, bool ended) {
  STEIN_CHECK(!ended, "{}: the episode has ended; set a state or reset before the next step", spec.name);
}

}  // namespace stein::envs
