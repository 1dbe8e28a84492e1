// Options described once: name, default, help, range and unit of every field stand in one `describe(visitor)`, and the
// command line, the TOML file, `--help`, docs/reference.md and the resolved configuration all read that.
#pragma once

#include <stein/core/error.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stein {

/// The finite numbers that an option may take.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   ///< `low` itself is not allowed
  bool high_open = false;  ///< `high` itself is not allowed

  bool contains(double value) const;
  /// As a person would say it: "> 0", "in [0, 1]", "any number".
  std::string text() const;
};

inline constexpr Range any_number{};
inline constexpr Range positive{.low = 0, .low_open = true};
inline constexpr Range non_negative{.low = 0};
inline constexpr Range probability{.low = 0, .high = 1};
constexpr Range at_least(double low) {
  return {.low = low};
}
constexpr Range between(double low, double high) {
  return {.low = low, .high = high};
}

/// One option of one component, bound to the field that holds it.
struct Option {
  /// What a value is, and how its text is read.
  enum class Kind { boolean, integer, real, text, choice, integer_list, text_list };

  std::string name;  ///< full key: `kernel.bandwidth`
  std::string help;
  std::string unit;  ///< empty if the value has none
  Kind kind;
  std::string range;                             ///< the allowed values as text; empty if any
  std::string default_text;                      ///< the value when the option was described, as one would type it
  std::function<std::string()> text;             ///< the present value as one would type it
  std::function<void(std::string_view)> assign;  ///< throws Error(usage): wrong type, out of range
  /// What the value was, in effect, in runs of versions that did not have the option yet.
  std::optional<std::string> older_value = std::nullopt;

  /// Declares `older_value`, without which runs from before the option cannot go on. Throws Error(usage) for a value
  /// that the option does not take.
  void in_older_runs(std::string_view value);
};

/// Values of several options of a component under one name: the settings of a paper.
struct Preset {
  std::string name;
  std::string description;                      ///< one line: where the values come from
  std::map<std::string, std::string> settings;  ///< option → value as one would type it
};

/// The visitor given to `describe`: collects the options of a component, of its parts under `part.name`, and sets them
/// by name. No two options may share a name: describing one again throws Error(usage).
///
/// @code
///   struct Options {
///     double step_size = 1e-3;
///     double momentum = 0.9;
///     template <class V> void describe(V& v) {
///       v("step_size", step_size, "multiplies the gradient", positive);
///       v("momentum", momentum, "share of the last step", probability).in_older_runs("0");
///       v.preset("paper", "Somebody 2018, section 5", {{"step_size", "0.01"}});
///     }
///   };
/// @endcode
class OptionTable {
 public:
  OptionTable() = default;
  /// The table of `options`, which must outlive it.
  template <class Options>
  static OptionTable of(Options& options) {
    OptionTable table;
    options.describe(table);
    return table;
  }

  Option& operator()(std::string_view name, bool& value, std::string_view help);
  Option& operator()(std::string_view name, std::int64_t& value, std::string_view help, Range range = any_number,
                     std::string_view unit = "");
  Option& operator()(std::string_view name, double& value, std::string_view help, Range range = any_number,
                     std::string_view unit = "");
  Option& operator()(std::string_view name, std::string& value, std::string_view help);
  /// A file or folder, or an empty text. It is kept with all of its folders, so that a run that goes on elsewhere means
  /// the same.
  Option& operator()(std::string_view name, std::filesystem::path& value, std::string_view help);
  /// A list such as `50,50`; every item must lie in `range`; `none` or an empty text is the empty list.
  Option& operator()(std::string_view name, std::vector<std::int64_t>& value, std::string_view help,
                     Range range = any_number);
  /// A list of texts such as `svgd,linucb`, none of which has a comma; `none` or an empty text is the empty list.
  Option& operator()(std::string_view name, std::vector<std::string>& value, std::string_view help);
  /// An enumeration by the names of its values.
  template <class Enum>
  requires std::is_enum_v<Enum> Option& operator()(
      std::string_view name, Enum& value, std::string_view help,
      std::initializer_list<std::pair<const char*, std::type_identity_t<Enum>>> names) {
    std::vector<std::string> choices;
    std::vector<Enum> values;
    for (const auto& [choice, item] : names) {
      choices.emplace_back(choice);
      values.push_back(item);
    }
    return add_choice(
        name, help, std::move(choices),
        [&value, values] {
          std::size_t i = 0;
          while (i + 1 < values.size() && values[i] != value) ++i;
          return i;
        },
        [&value, values](std::size_t i) { value = values[i]; });
  }
  /// The options of a part, each under `prefix.`.
  template <class Options>
  void part(std::string_view prefix, Options& options) {
    const std::string before = std::exchange(prefix_, prefix_ + std::string(prefix) + ".");
    options.describe(*this);
    prefix_ = before;
  }

  /// Declares a preset of the component, or adds to it where it has the same name and description; a name that another
  /// component has too means the settings of both. Its options are those of this component, described before. Throws
  /// Error(usage) for an option that was not.
  void preset(std::string_view name, std::string_view description,
              std::initializer_list<std::pair<const char*, std::string>> settings);
  /// Appends the options and presets of another table, whose fields must outlive this one too, but for the option
  /// called `without`.
  void append(const OptionTable& other, std::string_view without = "");
  /// Lets `name` set all of `options`, which are described already, at once. Throws Error(usage) where an option has
  /// that name, or one of them does not exist.
  void group(const std::string& name, const std::vector<std::string>& options);

  const std::vector<Option>& options() const { return options_; }
  const std::vector<Preset>& presets() const { return presets_; }
  /// Names of groups with the options that they set.
  const std::map<std::string, std::vector<std::string>, std::less<>>& groups() const { return groups_; }
  /// Whether there is an option or a group called `key`.
  bool contains(std::string_view key) const;
  /// Sets the option or the group `key` from text. Throws Error(usage) that names the key, the value, what is allowed,
  /// and for an unknown key the nearest known one.
  void set(std::string_view key, std::string_view value);
  /// The option `key`. Throws Error(usage) that suggests the nearest one.
  const Option& at(std::string_view key) const;
  /// The present value of `key` as text. Throws Error(usage) for an unknown key.
  std::string get(std::string_view key) const;

 private:
  Option& add(std::string_view name, std::string_view help, std::string_view unit, Option::Kind kind, std::string range,
              std::function<std::string()> text, std::function<void(std::string_view)> assign);
  Option& add_choice(std::string_view name, std::string_view help, std::vector<std::string> choices,
                     std::function<std::size_t()> index, std::function<void(std::size_t)> choose);
  Option& add(Option option);

  std::vector<Option> options_;
  std::vector<Preset> presets_;
  std::map<std::string, std::vector<std::string>, std::less<>> groups_;
  std::string prefix_;
};

/// `key = value` lines of all options, TOML values, dotted keys; reading it back gives the same options.
std::string to_toml(const OptionTable& table);

/// Sets options from the text of a TOML file; tables become prefixes, and groups come before single options. Throws
/// Error(usage) naming `source`, line and key. @param passed_over  keys that the table may lack: the file says them to
/// others
void set_from_toml(OptionTable& table, std::string_view toml, std::string_view source,
                   const std::set<std::string>& passed_over = {});

/// Every key of a TOML text with its value as one would type it; tables become prefixes. Throws Error(usage) naming
/// `source` and line where the text is no TOML.
std::map<std::string, std::string> values_from_toml(std::string_view toml, std::string_view source);

/// Two indented lines an option for `--help`: name and help, then default, range and unit.
std::string help_text(const OptionTable& table);

/// The same as a Markdown table for docs/reference.md.
std::string markdown_text(const OptionTable& table);

/// `options` as they are. Throws Error(usage) naming the first of them whose value is out of its range.
template <class Options>
Options checked(Options options) {
  const OptionTable table = OptionTable::of(options);
  for (const Option& option : table.options()) option.assign(option.text());
  return options;
}

}  // namespace stein
