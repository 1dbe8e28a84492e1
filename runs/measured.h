// Numbers that were measured once for each repetition, in the one shape that every summary and evaluation has, and as a
// person reads them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::runs {

/// `value` with six digits: more than a picture can show.
double rounded(double value);

/// Null where it is not finite.
nlohmann::ordered_json number(double value);

/// {mean, sd, per_seed} of a number that was measured once for every seed; also `per_split` or `per_fold`. Numbers that
/// are not finite are null, and so is the deviation of fewer than two.
nlohmann::ordered_json measured(std::span<const double> values, const char* each = "per_seed");

/// The same with mean and deviation over the finite values only: steps to a threshold that some seeds did not reach.
nlohmann::ordered_json measured_where_defined(std::span<const double> values, const char* each = "per_seed");

/// The mean of what `measured` made, or a plain number as earlier versions wrote it; NaN for null.
double mean_of(const nlohmann::ordered_json& value);

/// "412.5", or "not defined" for null; of what `measured` made, the mean.
std::string text(const nlohmann::ordered_json& value, const char* format = "{:.1f}");

/// "412.5 ± 3.1" of what `measured` made; without the deviation where there is none.
std::string mean_and_deviation(const nlohmann::ordered_json& value, const char* format = "{:.1f}");

/// "   mean ± sd of 5 seeds", or "   one seed".
std::string spread_note(std::size_t seeds);

/// "1 event", "2 events".
std::string counted(std::int64_t count, std::string_view what);

/// "a, b, c"; of more than eight the first eight and how many more.
std::string few(std::span<const std::string> texts);

/// One aligned line of a summary.
std::string summary_line(const char* name, const std::string& value);

}  // namespace stein::runs
