#include <fmt/format.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/readable_replay_summary.h>
#include <stein/runs/measured.h>

#include <map>
#include <string_view>

namespace stein::replay {

using Json = nlohmann::ordered_json;

namespace {

/// How rewards are printed: clicks as shares, which CTR is, others as they are.
struct RewardText {
  double factor;
  const char *name, *unit;  ///< of a column, and behind a title

  explicit RewardText(const Json& bounds)
      : factor(bounds == Json{0.0, 1.0} ? 100 : 1),
        name(factor == 1 ? "reward" : "CTR, %"),
        unit(factor == 1 ? "" : ", %") {}

  std::string operator()(const Json& value) const {
    return value.is_null() ? "-" : fmt::format("{:.3f}", factor * value.get<double>());
  }
  std::string interval(const Json& ends) const { return fmt::format("[{}, {}]", (*this)(ends[0]), (*this)(ends[1])); }
};

std::string estimate_lines(const Json& policies, const RewardText& reward) {
  std::string lines;
  for (const Json& policy : policies) {
    if (!policy.contains("estimates")) continue;
    for (const auto& [name, estimate] : policy["estimates"].items()) {
      const std::string label = fmt::format("  {:<20}{:<12}", policy["policy"].get<std::string>(), name);
      if (estimate.contains("refused"))
        lines += fmt::format("{}refused: {}\n", label, estimate["refused"].get<std::string>());
      else
        lines += fmt::format("{}{:>9}  {:<18}  effective sample size {:.0f}\n", label, reward(estimate["value"]),
                             reward.interval(estimate["interval"]), estimate["effective_sample_size"].get<double>());
    }
  }
  return lines.empty() ? ""
                       : fmt::format("\n  estimates from propensities{} with their intervals\n{}", reward.unit, lines);
}

/// @param uniform  the log: of others accepted events weigh 1/propensity, as in `÷ uniform`
std::string difference_lines(const Json& differences, const RewardText& reward, bool uniform) {
  std::string lines;
  for (const Json& d : differences) {
    if (d.contains("refused")) continue;
    const auto by = d["by"].get<std::string>();
    lines += fmt::format("  {:<36}{:<12}{:>9}  {}\n",
                         fmt::format("{} − {}", d["first"].get<std::string>(), d["second"].get<std::string>()),
                         by == "replay" && !uniform ? "replay, 1/p" : by, reward(d["difference"]),
                         reward.interval(d["interval"]));
  }
  return lines.empty()
             ? ""
             : fmt::format("\n  differences on the same events{} with their intervals\n{}", reward.unit, lines);
}

}  // namespace

std::string readable_replay_summary(const Json& summary) {
  const Json& log = summary["log"];
  const RewardText reward(log["reward_bounds"]);
  const std::size_t seeds = summary["seeds"].size();
  const auto count = [&](const char* field, std::string_view what) {
    return runs::counted(log[field].get<std::int64_t>(), what);
  };
  const std::string estimates = estimate_lines(summary["policies"], reward);
  const auto reasons = log["bad_lines_by_reason"].get<std::map<std::string, std::int64_t>>();
  std::string lines =
      fmt::format("{} of {}, {}{}{}\n\n", count("events", "event"), count("arms", "arm"),
                  count("bad_lines", "bad line"), reasons.empty() ? "" : fmt::format(" ({})", reasons_text(reasons)),
                  seeds > 1 ? fmt::format("; means of {} seeds", seeds) : "");
  if (!log["uniformly_logged"].get<bool>())
    lines +=
        "  The log was not uniform: the accepted events of this table are not what a policy would have met. "
        "Differences\n"
        "  by replay weigh them by 1/propensity, as ÷ uniform does. " +
        std::string(estimates.empty() ? "Estimates from its propensities were not asked for: --estimators snips, say."
                                      : "Believe the estimates below it.") +
        "\n\n";
  lines += fmt::format("  {:<20}{:>10}{:>10}{:>9}  {:<18}{:>10}{:>12}\n", "policy", "accepted", "of all, %",
                       reward.name, "interval", "÷ uniform", "events/s");
  for (const Json& policy : summary["policies"])
    lines += fmt::format("  {:<20}{:>10.0f}{:>10}{:>9}  {:<18}{:>10}{:>12}\n", policy["policy"].get<std::string>(),
                         policy["accepted"].get<double>(),
                         fmt::format("{:.3f}", 100 * policy["acceptance_rate"].get<double>()), reward(policy["ctr"]),
                         reward.interval(policy["interval"]), runs::text(policy["relative"], "{:.3f}"),
                         runs::text(policy["events_per_second"], "{:.0f}"));
  if (seeds > 1) {
    lines += fmt::format("\n  over seeds, standard deviation of {}\n", reward.name);
    for (const Json& policy : summary["policies"])
      lines +=
          fmt::format("  {:<20}{:>9}\n", policy["policy"].get<std::string>(), reward(policy["ctr_over_seeds"]["sd"]));
  }
  lines += estimates + difference_lines(summary["differences"], reward, log["uniformly_logged"].get<bool>()) + "\n";
  lines += runs::summary_line("peak memory", runs::text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  lines += runs::summary_line("wall time", runs::text(summary["wall_seconds"], "{:.2f}") + " s");
  return lines;
}

}  // namespace stein::replay
