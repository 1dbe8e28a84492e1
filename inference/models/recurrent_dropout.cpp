#include <stein/inference/models/recurrent_dropout.h>

#include <span>

namespace stein::inference {
namespace {

/// Fills a mask: 0 with probability p, else 1/(1 − p). @param number  of the mask
void fill_mask(const DropoutDraw& draw, std::uint64_t number, double p, std::span<float> mask) {
  NoiseKey key = draw.key;
  key.step = key.step << 16 | number;
  const auto limit = static_cast<std::uint32_t>(p * 0x1p32);
  const auto kept = static_cast<float>(1 / (1 - p));
  for (std::size_t i = 0; i < mask.size(); i += 4) {
    const PhiloxBlock words = random_block(key, draw.row, static_cast<std::uint32_t>(i / 4));
    for (std::size_t k = 0; k < 4 && i + k < mask.size(); ++k) mask[i + k] = words[k] < limit ? 0.0F : kept;
  }
}

}  // namespace

RecurrentDropout::RecurrentDropout(const RecurrentSpec& spec)
    : spec_(spec), masks_(static_cast<std::size_t>(spec.layers + 1)), kept_(static_cast<std::size_t>(spec.layers)) {}

void RecurrentDropout::draw(const std::optional<DropoutDraw>& dropout, std::int64_t steps, std::int64_t rows) {
  drops_ = dropout.has_value() && spec_.dropout > 0;
  if (!drops_) return;
  const bool each_step = spec_.dropout_mask == DropoutMask::each_step;
  std::uint64_t number = 0;
  for (std::int64_t l = 0; l <= spec_.layers; ++l) {
    const bool is_output = l == spec_.layers;
    const std::int64_t width = is_output ? spec_.directions() * spec_.hidden : spec_.layer_inputs(l);
    const bool last_state = is_output && spec_.readout == Readout::last_state;
    std::vector<float>& mask = masks_[static_cast<std::size_t>(l)];
    mask.resize(static_cast<std::size_t>((each_step && !last_state ? steps : 1) * rows * width));
    fill_mask(*dropout, number++, spec_.dropout, mask);
    if (each_step || is_output) continue;
    kept_[static_cast<std::size_t>(l)].resize(static_cast<std::size_t>(rows * spec_.hidden));
    fill_mask(*dropout, number++, spec_.dropout, kept_[static_cast<std::size_t>(l)]);
  }
}

void RecurrentDropout::drop(std::int64_t l, std::vector<float>& x) const {
  if (!drops_) return;
  const std::vector<float>& mask = masks_[static_cast<std::size_t>(l)];
  for (std::size_t begin = 0; begin < x.size(); begin += mask.size())
    for (std::size_t i = 0; i < mask.size(); ++i) x[begin + i] *= mask[i];
}

const float* RecurrentDropout::kept(std::int64_t l) const {
  return drops_ && spec_.dropout_mask == DropoutMask::sequence ? kept_[static_cast<std::size_t>(l)].data() : nullptr;
}

}  // namespace stein::inference
