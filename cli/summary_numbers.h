// Numbers of a summary: as JSON, and as a person reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace stein::cli {

/// Null where it is not finite.
nlohmann::ordered_json number(double value);

/// {mean, sd, per_seed}; the deviation of one seed is null.
nlohmann::ordered_json over_seeds(std::span<const double> values);

/// {count, mean, median, max, per_seed} of the particles' returns [seeds][particles]: each number of a seed, averaged
/// over seeds.
nlohmann::ordered_json over_particles(const std::vector<std::vector<double>>& returns);

/// "412.5", or "not defined" for null.
std::string text(const nlohmann::ordered_json& value, const char* format = "{:.1f}");

/// "412.5 ± 3.1" of what `over_seeds` made.
std::string mean_and_deviation(const nlohmann::ordered_json& values);

/// "   mean ± sd of 5 seeds", or "   one seed".
std::string spread_note(std::size_t seeds);

/// One aligned line of a summary.
std::string summary_line(const char* name, const std::string& value);

}  // namespace stein::cli
