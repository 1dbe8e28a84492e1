#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/targets/reference_arithmetic.h>
#include <stein/lm/network/recurrent_options.h>

#include <fmt/format.h>

#include <algorithm>

namespace stein::lm {

std::string network_name(const inference::RecurrentSpec& spec) {
  constexpr const char* cells[] = {"lstm", "gru", "tanh"};
  return fmt::format("{}{} {}x{}", spec.bidirectional ? "bi-" : "", cells[static_cast<int>(spec.cell)], spec.layers,
                     spec.hidden);
}

std::unique_ptr<inference::Model<float>> make_recurrent_model(const inference::RecurrentSpec& spec,
                                                              inference::Arithmetic arithmetic,
                                                              inference::Device device, std::int64_t networks) {
  const bool fused = arithmetic == inference::Arithmetic::fused, on_host = device == inference::Device{};
  STEIN_CHECK(!on_host || spec.precision != inference::Precision::tf32, "precision tf32 is of a GPU, got device=cpu");
  if (on_host && fused) return std::make_unique<inference::ParticleRecurrent>(spec);
  STEIN_CHECK(!on_host || spec.precision == inference::Precision::single, "precision bfloat16 needs arithmetic=fused");
  STEIN_CHECK(on_host || fused, "arithmetic=reference is of the processor, got device={}", device_name(device));
  const inference::ReferenceArithmetic& torch = inference::torch_arithmetic();
  torch.set_threads(static_cast<int>(std::max<std::int64_t>(1, thread_count() / networks)));
  return torch.make_recurrent(spec, device);
}

}  // namespace stein::lm
