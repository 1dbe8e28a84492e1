#include <fmt/ranges.h>
#include <stein/runs/measured.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::runs {

using Json = nlohmann::ordered_json;

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json measured(std::span<const double> values, const char* each) {
  Json single = Json::array();
  for (const double value : values) single.push_back(number(value));
  return {{"mean", number(mean(values))}, {"sd", number(deviation(values))}, {each, single}};
}

Json measured_where_defined(std::span<const double> values, const char* each) {
  std::vector<double> defined;
  std::ranges::copy_if(values, std::back_inserter(defined), [](double value) { return std::isfinite(value); });
  Json result = measured(values, each);
  result["mean"] = number(mean(defined));
  result["sd"] = number(deviation(defined));
  return result;
}

double mean_of(const Json& value) {
  const Json& mean = value.is_object() ? value.at("mean") : value;
  return mean.is_null() ? std::numeric_limits<double>::quiet_NaN() : mean.get<double>();
}

std::string text(const Json& value, const char* format) {
  const double mean = mean_of(value);
  if (!std::isfinite(mean)) return "not defined";
  constexpr double readable = 1e9;  // a larger number has more digits than a line has room for
  std::string shown = std::abs(mean) < readable ? fmt::format(fmt::runtime(format), mean) : fmt::format("{:.3g}", mean);
  if (shown.starts_with('-') && shown.find_first_of("123456789") == std::string::npos) shown.erase(0, 1);  // "-0.0"
  return shown;
}

std::string mean_and_deviation(const Json& value, const char* format) {
  const bool spread = value.is_object() && value.contains("sd") && !value["sd"].is_null();
  return spread ? fmt::format("{} ± {}", text(value, format), text(value["sd"], format)) : text(value, format);
}

std::string spread_note(std::size_t seeds) {
  return seeds > 1 ? fmt::format("   mean ± sd of {} seeds", seeds) : "   one seed";
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string few(std::span<const std::string> texts) {
  constexpr std::size_t most = 8;
  if (texts.size() <= most) return fmt::format("{}", fmt::join(texts, ", "));
  return fmt::format("{} and {} more", fmt::join(texts.first(most), ", "), texts.size() - most);
}

std::string summary_line(const char* name, const std::string& value) {
  return fmt::format("  {:<22}{}\n", name, value);
}

}  // namespace stein::runs
