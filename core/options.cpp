#include <fmt/ranges.h>
#include <stein/core/nearest_name.h>
#include <stein/core/options.h>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <sstream>

namespace stein {
namespace {

/// What options of ours are called in Stable-Baselines3 or PyTorch: {there, here}.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> other_names{{
    {"gamma", "discount"},
    {"lr", "step_size"},
    {"learning_rate", "step_size"},
    {"clip_range", "clip_ratio"},
    {"ent_coef", "entropy_weight"},
    {"n_steps", "steps_per_slot"},
    {"n_envs", "slots"},
    {"n_epochs", "epochs"},
    {"total_timesteps", "steps"},
    {"normalize_advantage", "normalize_advantages"},
    {"batch_size", "batch"},
    {"buffer_size", "buffer"},
    {"hidden_size", "hidden"},
    {"net_arch", "hidden"},
}};

/// What an option of another library is called among `names`, if that is known.
std::optional<std::string> name_here(std::string_view key, std::span<const std::string> names) {
  for (const auto& [there, here] : other_names)
    if (there == key && std::ranges::find(names, here) != names.end()) return std::string(here);
  return {};
}

template <class Number>
Number parse_number(std::string_view key, std::string_view text, const Range& range, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) {
    STEIN_CHECK(std::isfinite(static_cast<double>(value)), "option '{}' must be a finite number, got {}", key, text);
    STEIN_CHECK(range.contains(static_cast<double>(value)), "option '{}' must be {}, got {}", key, range.text(), text);
    return value;
  }
  // 1e4 is how people write ten thousand, also where an integer is asked for.
  if constexpr (std::is_integral_v<Number>) {
    double real{};
    const auto [real_end, real_error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (real_error == std::errc{} && real_end == text.data() + text.size() && std::abs(real) < 9e15 &&
        real == std::floor(real)) {
      STEIN_CHECK(range.contains(real), "option '{}' must be {}, got {}", key, range.text(), text);
      return static_cast<Number>(real);
    }
  }
  fail(ErrorKind::usage, "option '{}' expects {}, got '{}'", key, what, text);
}

std::string number_text(double value) {
  const std::string text = fmt::format("{}", value);
  return text;
}

std::string range_or_empty(const Range& range) {
  const bool unbounded = std::isinf(range.low) && std::isinf(range.high);
  return unbounded ? std::string() : range.text();
}

std::string range_and_unit(const Option& option) {
  const bool both = !option.range.empty() && !option.unit.empty();
  return option.range + (both ? ", " : "") + option.unit;
}

/// A bar would end the cell of a Markdown table.
std::string in_cell(std::string text) {
  for (std::size_t place = 0; (place = text.find('|', place)) != std::string::npos; place += 2)
    text.replace(place, 1, "\\|");
  return text;
}

/// What stands between the commas of a text; nothing of an empty one.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    items.emplace_back(text.substr(0, comma));
    if (comma + 1 == text.size()) items.emplace_back();
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

std::string in_quotes(const std::string& text) {
  std::ostringstream stream;
  stream << toml::value<std::string>(text);
  return stream.str();
}

std::string toml_text(const Option& option) {
  const std::string value = option.text();
  switch (option.kind) {
    case Option::Kind::boolean:
    case Option::Kind::integer: return value;
    case Option::Kind::real: return value.find_first_of(".einf") == std::string::npos ? value + ".0" : value;
    case Option::Kind::integer_list: return value == "none" ? "[]" : fmt::format("[{}]", value);
    case Option::Kind::text_list: {
      std::vector<std::string> items = split_list(value == "none" ? "" : value);
      for (std::string& item : items) item = in_quotes(item);
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case Option::Kind::text:
    case Option::Kind::choice: return in_quotes(value);
  }
  return value;
}

std::string node_text(const toml::node& node) {
  if (const auto* list = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) items.push_back(node_text(item));
    return items.empty() ? "none" : fmt::format("{}", fmt::join(items, ","));
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto integer = node.value_exact<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto real = node.value_exact<double>()) return number_text(*real);
  if (const auto boolean = node.value_exact<bool>()) return *boolean ? "true" : "false";
  return "";
}

/// Text must be text in the file too: what a list or a number stands for there is not what a person meant.
void check_type(const Option& option, const toml::node& node) {
  const bool is_text = option.kind == Option::Kind::text || option.kind == Option::Kind::choice;
  STEIN_CHECK(!is_text || node.is_string(), "option '{}' expects a text in quotes", option.name);
  const bool is_list = option.kind == Option::Kind::integer_list || option.kind == Option::Kind::text_list;
  STEIN_CHECK(!node.is_array() || is_list, "option '{}' expects one value, got a list", option.name);
}

void collect_values(const toml::table& node, const std::string& prefix, std::map<std::string, std::string>& values) {
  for (const auto& [key, value] : node) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = value.as_table()) {
      collect_values(*inner, name + ".", values);
    } else {
      values[name] = node_text(value);
    }
  }
}

/// What a file may set: groups first, so that what it says of one option wins.
enum class Keys { groups, options };

void set_from_table(OptionTable& table, const toml::table& node, const std::string& prefix, std::string_view source,
                    const std::set<std::string>& passed_over, Keys keys) {
  for (const auto& [key, value] : node) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = value.as_table()) {
      set_from_table(table, *inner, name + ".", source, passed_over, keys);
      continue;
    }
    if (passed_over.contains(name) && !table.contains(name)) continue;
    const auto group = table.groups().find(name);
    if ((group != table.groups().end()) != (keys == Keys::groups)) continue;
    try {
      const std::string& first = group == table.groups().end() ? name : group->second.front();
      const auto option = std::ranges::find(table.options(), first, &Option::name);
      if (option != table.options().end()) check_type(*option, value);
      table.set(name, node_text(value));
    } catch (const Error& error) {
      fail(ErrorKind::usage, "{}, line {}: {}", source, value.source().begin.line, error.what());
    }
  }
}

}  // namespace

bool Range::contains(double value) const {
  const bool above = low_open ? value > low : value >= low;
  const bool below = high_open ? value < high : value <= high;
  return above && below;
}

std::string Range::text() const {
  const bool has_low = !std::isinf(low), has_high = !std::isinf(high);
  if (has_low && has_high) return fmt::format("in {}{}, {}{}", low_open ? '(' : '[', low, high, high_open ? ')' : ']');
  if (has_low) return fmt::format("{} {}", low_open ? ">" : "≥", low);
  if (has_high) return fmt::format("{} {}", high_open ? "<" : "≤", high);
  return "any number";
}

Option& OptionTable::add(Option option) {
  STEIN_CHECK(!contains(option.name), "option '{}' is described twice", option.name);
  return options_.emplace_back(std::move(option));
}

Option& OptionTable::add(std::string_view name, std::string_view help, std::string_view unit, Option::Kind kind,
                         std::string range, std::function<std::string()> text,
                         std::function<void(std::string_view)> assign) {
  std::string default_text = text();
  return add({.name = prefix_ + std::string(name),
              .help = std::string(help),
              .unit = std::string(unit),
              .kind = kind,
              .range = std::move(range),
              .default_text = std::move(default_text),
              .text = std::move(text),
              .assign = std::move(assign)});
}

void Option::in_older_runs(std::string_view value) {
  const std::string present = text();
  assign(value);
  older_value = text();  // as `text` would say it
  assign(present);
}

void OptionTable::preset(std::string_view name, std::string_view description,
                         std::initializer_list<std::pair<const char*, std::string>> settings) {
  Preset preset{.name = std::string(name), .description = std::string(description), .settings = {}};
  for (const auto& [key, value] : settings) preset.settings[at(prefix_ + key).name] = value;
  for (Preset& known : presets_)
    if (known.name == preset.name && known.description == preset.description)
      return known.settings.merge(preset.settings);
  presets_.push_back(std::move(preset));
}

void OptionTable::append(const OptionTable& other, std::string_view without) {
  for (const Option& option : other.options_)
    if (option.name != without) add(option);
  presets_.insert(presets_.end(), other.presets_.begin(), other.presets_.end());
}

Option& OptionTable::operator()(std::string_view name, bool& value, std::string_view help) {
  return add(
      name, help, "", Option::Kind::boolean, "true or false",
      [&value] { return std::string(value ? "true" : "false"); },
      [&value, key = prefix_ + std::string(name)](std::string_view text) {
        STEIN_CHECK(text == "true" || text == "false", "option '{}' expects true or false, got '{}'", key, text);
        value = text == "true";
      });
}

Option& OptionTable::operator()(std::string_view name, std::int64_t& value, std::string_view help, Range range,
                                std::string_view unit) {
  return add(
      name, help, unit, Option::Kind::integer, range_or_empty(range), [&value] { return fmt::format("{}", value); },
      [&value, range, key = prefix_ + std::string(name)](std::string_view text) {
        value = parse_number<std::int64_t>(key, text, range, "a whole number");
      });
}

Option& OptionTable::operator()(std::string_view name, double& value, std::string_view help, Range range,
                                std::string_view unit) {
  return add(
      name, help, unit, Option::Kind::real, range_or_empty(range), [&value] { return number_text(value); },
      [&value, range, key = prefix_ + std::string(name)](std::string_view text) {
        value = parse_number<double>(key, text, range, "a number");
      });
}

Option& OptionTable::operator()(std::string_view name, std::string& value, std::string_view help) {
  return add(
      name, help, "", Option::Kind::text, "", [&value] { return value; },
      [&value](std::string_view text) { value = std::string(text); });
}

Option& OptionTable::operator()(std::string_view name, std::filesystem::path& value, std::string_view help) {
  return add(
      name, help, "", Option::Kind::text, "", [&value] { return value.string(); },
      [&value](std::string_view text) {
        value = text.empty() ? std::filesystem::path() : std::filesystem::absolute(text).lexically_normal();
      });
}

Option& OptionTable::operator()(std::string_view name, std::vector<std::int64_t>& value, std::string_view help,
                                Range range) {
  return add(
      name, help, "", Option::Kind::integer_list, range_or_empty(range),
      [&value] { return value.empty() ? std::string("none") : fmt::format("{}", fmt::join(value, ",")); },
      [&value, range, key = prefix_ + std::string(name)](std::string_view text) {
        std::vector<std::int64_t> items;
        if (text != "none")
          for (const std::string& item : split_list(text))
            items.push_back(parse_number<std::int64_t>(key, item, range, "whole numbers separated by commas"));
        value = std::move(items);
      });
}

Option& OptionTable::operator()(std::string_view name, std::vector<std::string>& value, std::string_view help) {
  return add(
      name, help, "", Option::Kind::text_list, "",
      [&value] { return value.empty() ? std::string("none") : fmt::format("{}", fmt::join(value, ",")); },
      [&value, key = prefix_ + std::string(name)](std::string_view text) {
        std::vector<std::string> items = split_list(text == "none" ? "" : text);
        for (const std::string& item : items)
          STEIN_CHECK(!item.empty(), "option '{}' expects texts between commas, got '{}'", key, text);
        value = std::move(items);
      });
}

Option& OptionTable::add_choice(std::string_view name, std::string_view help, std::vector<std::string> choices,
                                std::function<std::size_t()> index, std::function<void(std::size_t)> choose) {
  return add(
      name, help, "", Option::Kind::choice, fmt::format("{}", fmt::join(choices, " | ")),
      [index = std::move(index), choices] { return choices[index()]; },
      [choose = std::move(choose), choices, key = prefix_ + std::string(name)](std::string_view text) {
        const auto place = std::ranges::find(choices, text);
        STEIN_CHECK(place != choices.end(), "option '{}' must be one of {}, got '{}'.{}", key,
                    fmt::join(choices, " | "), text, nearest_name(text, choices) ? suggestion(text, choices) : "");
        choose(static_cast<std::size_t>(place - choices.begin()));
      });
}

void OptionTable::group(const std::string& name, const std::vector<std::string>& options) {
  STEIN_CHECK(!contains(name), "'{}' is an option already", name);
  STEIN_CHECK(!options.empty(), "the group '{}' has no options", name);
  for (const std::string& option : options) static_cast<void>(at(option));
  groups_.emplace(name, options);
}

bool OptionTable::contains(std::string_view key) const {
  return groups_.contains(key) ||
         std::ranges::any_of(options_, [&](const Option& option) { return option.name == key; });
}

const Option& OptionTable::at(std::string_view key) const {
  const auto place = std::ranges::find(options_, key, &Option::name);
  if (place != options_.end()) return *place;
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name);
  for (const auto& [group, options] : groups_) names.push_back(group);
  const std::optional<std::string> ours = name_here(key, names);
  fail(ErrorKind::usage, "unknown option '{}'.{}", key, suggestion(ours ? *ours : key, names));
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the fields that the table is bound to
void OptionTable::set(std::string_view key, std::string_view value) {
  if (const auto group = groups_.find(key); group != groups_.end())
    for (const std::string& option : group->second) at(option).assign(value);
  else
    at(key).assign(value);
}

std::string OptionTable::get(std::string_view key) const {
  return at(key).text();
}

std::string to_toml(const OptionTable& table) {
  std::string text;
  for (const Option& option : table.options()) text += fmt::format("{} = {}\n", option.name, toml_text(option));
  return text;
}

void set_from_toml(OptionTable& table, std::string_view toml, std::string_view source,
                   const std::set<std::string>& passed_over) {
  try {
    const toml::table parsed = toml::parse(toml, source);
    for (const Keys keys : {Keys::groups, Keys::options}) set_from_table(table, parsed, "", source, passed_over, keys);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::usage, "{}, line {}: {}", source, error.source().begin.line, error.description());
  }
}

std::map<std::string, std::string> values_from_toml(std::string_view toml, std::string_view source) {
  std::map<std::string, std::string> values;
  try {
    collect_values(toml::parse(toml, source), "", values);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::usage, "{}, line {}: {}", source, error.source().begin.line, error.description());
  }
  return values;
}

std::string help_text(const OptionTable& table) {
  std::size_t width = 0;
  for (const Option& option : table.options()) width = std::max(width, option.name.size());
  std::string text;
  for (const Option& option : table.options()) {
    const std::string details = range_and_unit(option);
    text += fmt::format("  {:<{}}  {}\n  {:<{}}    default {}{}\n", option.name, width, option.help, "", width,
                        option.default_text, details.empty() ? "" : fmt::format("; {}", details));
  }
  return text;
}

std::string markdown_text(const OptionTable& table) {
  std::string text = "| option | default | values | meaning |\n|---|---|---|---|\n";
  for (const Option& option : table.options()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", option.name, in_cell(option.default_text),
                        in_cell(range_and_unit(option)), in_cell(option.help));
  }
  return text;
}

}  // namespace stein
