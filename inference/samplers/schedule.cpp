#include <stein/inference/samplers/schedule.h>

#include <cmath>
#include <numbers>

namespace stein::inference {

Schedule::Schedule(const StepSizeOptions& step_size, const TemperatureOptions& temperature)
    : step_size_(checked(step_size)), temperature_(checked(temperature)) {}

double Schedule::step_size(std::int64_t t) const {
  double h = step_size_.step_size * factor_;
  if (step_size_.step_decay_steps > 0)
    h /= std::pow(1 + static_cast<double>(t) / step_size_.step_decay_steps, step_size_.step_decay_exponent);
  if (step_size_.cycle_steps > 0) {
    const double phase = static_cast<double>(t % step_size_.cycle_steps) / static_cast<double>(step_size_.cycle_steps);
    h *= (1 + std::cos(std::numbers::pi * phase)) / 2;
  }
  return h;
}

double Schedule::temperature_of_noise(std::int64_t t) const {
  const std::int64_t decays = t / temperature_.temperature_decay_steps;
  return temperature_.temperature * std::pow(temperature_.temperature_decay, static_cast<double>(decays)) *
         std::pow(static_cast<double>(t + 1), -temperature_.annealing_exponent);
}

bool Schedule::exploring(std::int64_t t) const {
  if (step_size_.cycle_steps == 0) return false;
  const auto phase = static_cast<double>(t % step_size_.cycle_steps);
  return phase < temperature_.exploration_share * static_cast<double>(step_size_.cycle_steps);
}

}  // namespace stein::inference
