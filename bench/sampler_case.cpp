#include <stein/bench/sampler_case.h>
#include <stein/core/error.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/psgld.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/inference/samplers/sgld.h>
#include <stein/inference/samplers/sgnht.h>

#include <algorithm>
#include <cmath>

namespace stein::bench {
namespace {

using namespace stein::inference;

SamplerChoice optimizer(OptimizerMethod method) {
  return SamplerChoice::of<Optimizer<float>>({.method = method, .step = {.step_size = 1e-3}});
}

}  // namespace

const std::vector<SamplerCase>& sampler_cases() {
  static const std::vector<SamplerCase> cases{
      {"sgd-momentum", 20, optimizer(OptimizerMethod::sgd)},
      {"rmsprop", 20, optimizer(OptimizerMethod::rmsprop)},
      {"adam", 28, optimizer(OptimizerMethod::adam)},
      {"sgld", 12, SamplerChoice::of<Sgld<float>>({.step = {.step_size = 1e-6}})},
      {"psgld", 20, SamplerChoice::of<Psgld<float>>({.step = {.step_size = 1e-6}})},
      {"sghmc", 20, SamplerChoice::of<Sghmc<float>>({.step = {.step_size = 1e-6}})},
      {"sgnht", 28, SamplerChoice::of<Sgnht<float>>({.step = {.step_size = 1e-2}})},
      {"santa", 36, SamplerChoice::of<Santa<float>>({.step = {.step_size = 1e-6}})}};
  return cases;
}

const SamplerCase& sampler_case(std::string_view name) {
  const auto found = std::ranges::find(sampler_cases(), name, &SamplerCase::name);
  STEIN_CHECK(found != sampler_cases().end(), "benchmark: there is no sampler's case '{}'", name);
  return *found;
}

void check_same_move(std::string_view benchmark, std::string_view name, std::span<const float> start,
                     std::span<const float> ours, std::span<const float> reference) {
  double moved = 0, apart = 0;
  for (std::size_t q = 0; q < start.size(); ++q) {
    const double x = reference[q];
    moved += std::pow(x - start[q], 2);
    apart += std::pow(x - ours[q], 2);
  }
  // Values near 1 are stored to 6e-8.
  const double allowed = 1e-4 * std::sqrt(moved) + 2e-7 * std::sqrt(static_cast<double>(start.size()));
  if (!(moved > 0 && std::sqrt(apart) <= allowed))
    fail(ErrorKind::numeric, "benchmark {}: {} moves by {:.3g}, and the reference differs from that by {:.2g}",
         benchmark, name, std::sqrt(moved), std::sqrt(apart));
}

}  // namespace stein::bench
