#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/runs/experiment.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <set>
#include <utility>

namespace stein::runs {
namespace {

/// "posterior svgd or posterior s2vgd": the parts that have what `has` looks for.
template <class Has>
std::string owners_among(const std::vector<Part>& parts, const Has& has) {
  std::vector<std::string> owners;
  for (const Part& part : parts)
    if (has(part)) owners.push_back(part.title());
  return fmt::format("{}", fmt::join(owners, " or "));
}

}  // namespace

Experiment::Experiment(const RunKind& kind, Length length)
    : kind_(kind),
      length_(std::move(length)),
      seeds_(length_.seeds),
      steps_(length_.steps),
      checkpoint_every_(length_.checkpoint_every) {}

bool Experiment::may_change(std::string_view option) const {
  return option == "steps" || option == "device" ||
         std::ranges::find(kind_.with_length, option) != kind_.with_length.end();
}

void Experiment::add_part(std::string heading, const std::function<void(OptionTable&)>& describe) {
  OptionTable section;
  describe(section);
  table_.append(section);
  sections_.emplace_back(std::move(heading), std::move(section));
}

void Experiment::add_run(const std::function<void(OptionTable&)>& own) {
  add_part("Run", [&](OptionTable& table) {
    own(table);
    table("seeds", seeds_, "independent repetitions, A:B, without B");
    const std::string end = length_.may_end ? "; 0: to the end of the data" : "";
    table("steps", steps_, "length of every repetition" + end + length_.note, between(length_.may_end ? 0 : 1, 1e12),
          kind_.unit);
    table("checkpoint_every", checkpoint_every_, "what a killed run loses at most", between(1, 1e12), kind_.unit);
  });
}

void Experiment::group_options(const std::vector<std::string>& prefixes) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const Option& option : table_.options())
    for (const std::string& prefix : prefixes)
      if (option.name.starts_with(prefix + ".")) groups[option.name.substr(prefix.size() + 1)].push_back(option.name);
  for (const auto& [name, options] : groups)
    if (!table_.contains(name)) table_.group(name, options);
}

void Experiment::read(const OptionSources& sources) {
  refuse_options_of_others(sources);
  if (sources.of_run)
    preset_ = sources.preset;
  else if (!sources.preset.empty())
    apply_preset(sources.preset);
  if (sources.of_run) fill_older_values(sources);
  set_from_toml(table_, sources.toml, sources.toml_name, sources.of_others);
  for (const auto& [key, value] : sources.settings)
    if (table_.contains(key) || !sources.of_others.contains(key)) table_.set(key, value);
  static_cast<void>(seeds());
}

void Experiment::apply_preset(const std::string& name) {
  std::set<std::string> names;
  for (const std::vector<Preset>* presets : {&table_.presets(), &std::as_const(offered_)})
    for (const Preset& preset : *presets) {
      names.insert(preset.name);
      if (preset.name != name) continue;
      for (const auto& [key, value] : preset.settings) table_.set(key, value);
    }
  if (!names.contains(name)) {
    const std::string owners = owners_among(
        other_parts(), [&](const Part& part) { return std::ranges::count(part.presets, name, &Preset::name) > 0; });
    STEIN_CHECK(owners.empty(), "preset '{}' needs {}; {} has none of that name", name, owners, this->name());
  }
  STEIN_CHECK(!names.empty(), "{} has no preset '{}', nor any other; `stein list` says which there are", this->name(),
              name);
  STEIN_CHECK(names.contains(name), "{} has no preset '{}'.{}", this->name(), name,
              suggestion(name, std::vector<std::string>(names.begin(), names.end())));
  preset_ = name;
}

void Experiment::fill_older_values(const OptionSources& sources) {
  const std::set<std::string> known = sources.keys();
  for (const Option& option : table_.options()) {
    if (known.contains(option.name)) continue;
    STEIN_CHECK(option.older_value.has_value(),
                "'{}' has no '{}', which this version needs to know to go on with the run", sources.toml_name,
                option.name);
    option.assign(*option.older_value);
  }
}

std::vector<Part> Experiment::other_parts() const {
  return kind_.parts();
}

void Experiment::refuse_options_of_others(const OptionSources& sources) const {
  std::set<std::string> foreign = sources.keys();
  std::erase_if(foreign,
                [&](const std::string& key) { return table_.contains(key) || sources.of_others.contains(key); });
  if (foreign.empty()) return;
  const std::vector<Part> others = other_parts();
  for (const std::string& key : foreign) {
    const std::string owners = owners_among(others, [&](const Part& part) { return part.options.contains(key); });
    STEIN_CHECK(owners.empty(), "option '{}' needs {}; {} has none of that name", key, owners, name());
  }
}

std::map<std::string, std::string> Experiment::values_of(std::string_view heading) const {
  std::map<std::string, std::string> values;
  for (const auto& [title, section] : sections_) {
    if (title != heading) continue;
    for (const Option& option : section.options()) values[option.name] = option.text();
  }
  return values;
}

std::string Experiment::help(const std::vector<std::unique_ptr<Experiment>>& beside) const {
  std::vector<std::pair<std::string, OptionTable>> parts = sections_;
  for (const auto& other : beside)
    for (const auto& section : other->sections_) {
      const auto has_heading = [&](const auto& part) { return part.first == section.first; };
      if (std::ranges::none_of(parts, has_heading)) parts.push_back(section);
    }
  std::string text = "Options for --set and for the file of --config:\n\n";
  std::vector<std::pair<std::string, std::string>> presets;  // a name, and what it sets in each part that has it
  const auto tell = [&](std::string_view heading, const Preset& preset) {
    auto place = std::ranges::find(presets, preset.name, &std::pair<std::string, std::string>::first);
    if (place == presets.end()) place = presets.insert(place, {preset.name, ""});
    std::vector<std::string> settings;
    for (const auto& [key, value] : preset.settings) settings.push_back(fmt::format("{}={}", key, value));
    place->second += fmt::format("    {}{}{}\n      {}\n", heading, heading.empty() ? "" : ": ", preset.description,
                                 fmt::join(settings, " "));
  };
  for (const auto& [heading, table] : parts) {
    if (!table.options().empty()) text += fmt::format("{}\n{}\n", heading, help_text(table));
    for (const Preset& preset : table.presets()) tell(heading, preset);
  }
  for (const Preset& preset : offered_) tell("", preset);
  if (!presets.empty()) text += "Presets for --preset:\n";
  for (const auto& [name, settings] : presets) text += fmt::format("  {}\n{}", name, settings);
  return presets.empty() ? text : text + "\n";
}

}  // namespace stein::runs
