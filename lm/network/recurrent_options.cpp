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
                                                              inference::Arithmetic arithmetic, std::int64_t networks) {
  if (arithmetic == inference::Arithmetic::fused) return std::make_unique<inference::ParticleRecurrent>(spec);
  STEIN_CHECK(spec.precision == inference::Precision::single, "precision bfloat16 needs arithmetic=fused");
  const inference::ReferenceArithmetic& torch = inference::torch_arithmetic();
  torch.set_threads(static_cast<int>(std::max<std::int64_t>(1, thread_count() / networks)));
  return torch.make_recurrent(spec);
}

}  // namespace stein::lm
