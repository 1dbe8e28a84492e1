#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/agents/bandits/decision_line.h>

namespace stein::agents {

std::string decision_line(std::uint64_t seed, const Interaction& interaction) {
  return fmt::format(R"({{"seed":{},"step":{},"row":{},"action":{},"reward":{},"expected_rewards":[{}],)"
                     R"("propensities":[{}],"deterministic":{}}})",
                     seed, interaction.step, interaction.row, interaction.action, interaction.reward,
                     fmt::join(interaction.expected_rewards, ","), fmt::join(interaction.propensities, ","),
                     interaction.deterministic);
}

}  // namespace stein::agents
