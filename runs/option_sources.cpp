#include <stein/core/error.h>
#include <stein/core/options.h>
#include <stein/runs/option_sources.h>

namespace stein::runs {

std::string OptionSources::look_ahead(std::string_view key, std::string otherwise) const {
  const auto values = values_from_toml(toml, toml_name);
  if (const auto place = values.find(std::string(key)); place != values.end()) otherwise = place->second;
  for (const auto& [name, text] : settings)
    if (name == key) otherwise = text;
  return otherwise;
}

std::set<std::string> OptionSources::keys() const {
  std::set<std::string> keys;
  for (const auto& [key, value] : values_from_toml(toml, toml_name)) keys.insert(key);
  for (const auto& [key, value] : settings) keys.insert(key);
  return keys;
}

bool OptionSources::mention(std::string_view key) const {
  return keys().contains(std::string(key));
}

std::pair<std::string, std::string> parse_setting(std::string_view text, std::string_view argument) {
  const std::size_t equals = text.find('=');
  STEIN_CHECK(equals != std::string_view::npos && equals > 0, "{} expects key=value, got '{}'", argument, text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace stein::runs
