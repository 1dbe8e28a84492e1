#include <stein/runs/measured.h>
#include <stein/training/network_summary.h>

#include <fmt/format.h>

#include <algorithm>

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

/// "0.97 (output) to 1.04 (recurrent0)": the coldest and the hottest layer; one where there is one; and whether all
/// were read often enough to tell.
std::string temperature_range(const Json& layers) {
  const auto mean = [](const Json& layer) { return runs::mean_of(layer["temperature"]); };
  const auto [coldest, hottest] = std::ranges::minmax_element(layers, {}, mean);
  const auto text = [&](const Json& layer) {
    return fmt::format("{:.3g} ({})", mean(layer), layer["layer"].get<std::string>());
  };
  const bool unsure = std::ranges::any_of(layers, [](const Json& layer) { return layer["interval"][0].is_null(); });
  return text(*coldest) + (coldest == hottest ? "" : " to " + text(*hottest)) +
         (unsure ? ", some by readings too few or too slow to be sure" : "");
}

/// Weights at zero, and what a network without them takes.
std::string sparsity_lines(const Json& summary) {
  const auto share = [&](const char* of) {
    return 100 * summary[std::string(of) + "_left"].get<double>() / summary[of].get<double>();
  };
  return runs::summary_line("sparsity", fmt::format("{:.2f} % of the weights of {}, {:.0f} parameters are left",
                                                    100 * summary["sparsity"].get<double>(),
                                                    runs::counted(std::ssize(summary["layers"]), "layer"),
                                                    summary["parameters_left"].get<double>())) +
         runs::summary_line("  what is left", fmt::format("{:.1f} % of the multiplications, {:.1f} % of the bytes",
                                                          share("operations"), share("bytes")));
}

}  // namespace

std::string network_label(const Json& summary) {
  return fmt::format("{} {}", summary["model"].get<std::string>(), summary["sampler"].get<std::string>());
}

std::string summary_head(const Json& summary) {
  return fmt::format(
      "{}, {} on {}: {} weights, {}{}\n", summary["model"].get<std::string>(), summary["sampler"].get<std::string>(),
      summary["data"].get<std::string>(), summary["parameters"].get<std::int64_t>(),
      runs::counted(summary["epochs"].get<std::int64_t>(), "epoch"), runs::spread_note(summary["seeds"].size()));
}

std::string summary_foot(const Json& summary, const char* rate, const char* unit) {
  std::string lines = "\n";
  if (summary.contains("temperature"))
    lines += runs::summary_line("temperature", runs::text(summary["temperature"], "{:.3g}"));
  if (const Json layers = summary.value("temperatures", Json::array()); !layers.empty())
    lines += runs::summary_line("  as it was read", temperature_range(layers));
  if (summary.contains("divergence"))
    lines += runs::summary_line("divergence / N", runs::text(summary["divergence"], "{:.4f}") + " nats");
  if (summary.contains("sparsity")) lines += sparsity_lines(summary);
  lines += runs::summary_line("training", runs::text(summary[rate], "{:.0f}") + " " + unit);
  lines += runs::summary_line("peak memory", runs::text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  lines += runs::summary_line("wall time", runs::text(summary["wall_seconds"], "{:.1f}") + " s");
  return lines;
}

}  // namespace stein::training
