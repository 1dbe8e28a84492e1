#include "summary_numbers.h"

#include <fmt/format.h>
#include <stein/agents/seed_statistics.h>

#include <cmath>
#include <vector>

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
