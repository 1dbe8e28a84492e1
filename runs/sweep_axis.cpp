#include <stein/core/error.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/sweep_axis.h>

#include <algorithm>
#include <set>

namespace stein::runs {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

SweepAxis SweepAxis::parse(std::string_view text) {
  auto [key, values] = parse_setting(text, "--sweep");
  SweepAxis axis{.key = std::move(key), .values = split(values, values.find(';') == std::string::npos ? ',' : ';')};
  std::set<std::string> seen;
  for (const std::string& value : axis.values) {
    STEIN_CHECK(!value.empty(), "--sweep expects values between the separators, got '{}'", text);
    STEIN_CHECK(seen.insert(value).second,
                "--sweep {}: the value {} occurs twice; where values are lists, separate them with ';'", text, value);
  }
  return axis;
}

std::optional<SweepAxis> SweepAxis::compared(std::string_view subcommand, OptionSources& sources) {
  for (const RunKind* kind : kinds_of(subcommand)) {
    if (kind->compared.empty() || (kind->recognises && !kind->recognises(sources))) continue;
    const std::string text = sources.look_ahead(kind->compared, "");
    if (text.find(',') == std::string::npos) continue;
    SweepAxis axis{.key = kind->compared, .values = split(text, ',')};
    for (const std::string& value : axis.values) {
      STEIN_CHECK(!value.empty(), "option '{}' expects names between commas, got '{}'", axis.key, text);
      STEIN_CHECK(std::ranges::count(axis.values, value) == 1, "option '{}' names '{}' twice", axis.key, value);
    }
    std::erase_if(sources.settings, [&](const auto& setting) { return setting.first == axis.key; });
    return axis;
  }
  return std::nullopt;
}

}  // namespace stein::runs
