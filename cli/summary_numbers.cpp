#include "summary_numbers.h"

#include <fmt/format.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>

namespace stein::cli {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json over_seeds(std::span<const double> values) {
  return {{"mean", number(agents::mean(values))},
          {"sd", number(agents::deviation(values))},
          {"per_seed", std::vector<double>(values.begin(), values.end())}};
}

Json over_particles(const std::vector<std::vector<double>>& returns) {
  std::vector<double> mean, median, best;
  for (const std::vector<double>& seed : returns) {
    mean.push_back(agents::mean(seed));
    median.push_back(agents::quantile(seed, 0.5));
    best.push_back(std::ranges::max(seed));
  }
  return {{"count", returns.front().size()},
          {"mean", number(agents::mean(mean))},
          {"median", number(agents::mean(median))},
          {"max", number(agents::mean(best))},
          {"per_seed", returns}};
}

std::string text(const Json& value, const char* format) {
  return value.is_null() ? "not defined" : fmt::format(fmt::runtime(format), value.get<double>());
}

std::string mean_and_deviation(const Json& values) {
  const std::string centre = text(values["mean"]);
  return values["sd"].is_null() ? centre : fmt::format("{} ± {}", centre, text(values["sd"]));
}

std::string spread_note(std::size_t seeds) {
  return seeds > 1 ? fmt::format("   mean ± sd of {} seeds", seeds) : "   one seed";
}

std::string summary_line(const char* name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

}  // namespace stein::cli
