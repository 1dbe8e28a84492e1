#include "experiment.h"

#include <fmt/ranges.h>
#include <stein/core/error.h>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace stein::cli {
namespace {

constexpr std::uint64_t most_seeds = 10'000;

toml::table parsed(const OptionSources& sources) {
  try {
    return toml::parse(sources.toml, sources.toml_name);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::usage, "{}, line {}: {}", sources.toml_name, error.source().begin.line, error.description());
  }
}

}  // namespace

SeedRange SeedRange::parse(std::string_view text) {
  SeedRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  const bool has_first = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto last = std::from_chars(has_first ? first.ptr + 1 : end, end, range.end);
  STEIN_CHECK(has_first && last.ec == std::errc{} && last.ptr == end,
              "seeds are given as A:B, from A up to but without B, for instance 0:5; got '{}'", text);
  STEIN_CHECK(range.first < range.end, "seeds {} hold no seed: the second number must be larger", text);
  STEIN_CHECK(range.end - range.first <= most_seeds, "at most {} seeds can run side by side, got {}", most_seeds,
              range.end - range.first);
  return range;
}

std::string OptionSources::look_ahead(std::string_view key, std::string otherwise) const {
  std::string value = parsed(*this)[key].value_exact<std::string>().value_or(std::move(otherwise));
  for (const auto& [name, text] : settings)
    if (name == key) value = text;
  return value;
}

std::set<std::string> OptionSources::keys() const {
  std::set<std::string> keys;
  for (const auto& [key, value] : parsed(*this)) keys.emplace(key.str());
  for (const auto& [key, value] : settings) keys.insert(key);
  return keys;
}

bool OptionSources::mention(std::string_view key) const {
  return keys().contains(std::string(key));
}

void OptionSources::apply(OptionTable& table) const {
  set_from_toml(table, toml, toml_name);
  for (const auto& [key, value] : settings) table.set(key, value);
}

void refuse_options_of_others(const OptionSources& sources, const OptionTable& own,
                              const std::function<OptionOwners()>& others, std::string_view experiment) {
  std::set<std::string> foreign = sources.keys();
  std::erase_if(foreign, [&](const std::string& key) { return own.contains(key); });
  if (foreign.empty()) return;
  const OptionOwners all = others();
  for (const std::string& key : foreign) {
    std::vector<std::string> owners;
    for (const auto& [owner, names] : all)
      if (names.contains(key)) owners.push_back(owner);
    STEIN_CHECK(owners.empty(), "option '{}' needs {}; {} has none of that name", key, fmt::join(owners, " or "),
                experiment);
  }
}

std::pair<std::string, std::string> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  STEIN_CHECK(equals != std::string_view::npos && equals > 0, "--set expects key=value, got '{}'", text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void check_names_differ(const OptionTable& table, std::string_view experiment) {
  std::set<std::string_view> seen;
  for (const Option& option : table.options())
    STEIN_CHECK(seen.insert(option.name).second, "option '{}' is described twice by the parts of {}", option.name,
                experiment);
}

std::string help_text(const Sections& sections) {
  std::string text = "Options for --set and for the file of --config:\n\n";
  for (const auto& [heading, table] : sections)
    if (!table.options().empty()) text += fmt::format("{}\n{}\n", heading, help_text(table));
  return text;
}

}  // namespace stein::cli
