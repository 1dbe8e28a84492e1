#include <stein/core/box_muller.h>
#include <stein/policies/student_t_draws.h>

#include <cmath>

namespace stein::policies {

GammaProposal gamma_proposal(const NoiseKey& key, std::uint32_t row, std::uint32_t attempt) {
  const PhiloxBlock words = random_block(key, row, attempt);
  const NormalPair<float> pair = box_muller(words[0], words[1]);
  return {.normal = pair.first, .other = pair.second, .uniform = uniform_of(words[2] >> 1)};
}

double accepted_draw(const StudentT& variable, const NoiseKey& key, std::uint32_t row, GammaProposal proposal) {
  const double shape = variable.degrees / 2, d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d), normal = proposal.normal;
  for (std::uint32_t attempt = 1;; ++attempt) {
    const double x = proposal.other, y = 1 + c * x, v = y * y * y, x2 = x * x;
    if (y > 0 && ((shape >= squeeze_shape && proposal.uniform < 1 - squeeze_factor * (x2 * x2)) ||
                  std::log(proposal.uniform) < 0.5 * x2 + d * (1 - v + std::log(v))))
      return variable.location + variable.scale * (normal * std::sqrt(shape / (d * v)));
    proposal = gamma_proposal(key, row, attempt);
  }
}

void reference::draw_each(const StudentTDraws& draws) {
  for (std::size_t i = 0; i < draws.variables.size(); ++i)
    draws.values[i] =
        accepted_draw(draws.variables[i], draws.key, draws.rows[i], gamma_proposal(draws.key, draws.rows[i], 0));
}

}  // namespace stein::policies
