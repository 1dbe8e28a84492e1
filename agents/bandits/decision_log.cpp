#include <stein/agents/bandits/decision_log.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace stein::agents {

void DecisionLog::interaction(std::uint64_t seed, const Interaction& interaction) {
  fmt::memory_buffer line;
  fmt::format_to(std::back_inserter(line),
                 R"({{"seed":{},"step":{},"row":{},"action":{},"reward":{},"expected_rewards":[{}],)"
                 R"("propensities":[{}],"deterministic":{}}})",
                 seed, interaction.step, interaction.row, interaction.action, interaction.reward,
                 fmt::join(interaction.expected_rewards, ","), fmt::join(interaction.propensities, ","),
                 interaction.deterministic);
  file_.append_line({line.data(), line.size()});
}

std::uint64_t DecisionLog::sync() {
  file_.sync();
  return file_.tell();
}

}  // namespace stein::agents
