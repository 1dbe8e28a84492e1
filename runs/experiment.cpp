#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/runs/experiment.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <set>

namespace stein::runs {

Experiment::Experiment(const RunKind& kind, Length length)
    : kind_(kind), length_(std::move(length)), steps_(length_.steps), checkpoint_every_(length_.checkpoint_every) {}

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

void Experiment::read(const OptionSources& sources) {
  refuse_options_of_others(sources);
  if (sources.of_run)
    preset_ = sources.preset;
  else if (!sources.preset.empty())
    apply_preset(sources.preset);
  if (sources.of_run) fill_older_values(sources);
  set_from_toml(table_, sources.toml, sources.toml_name);
  for (const auto& [key, value] : sources.settings) table_.set(key, value);
  static_cast<void>(seeds());
}

void Experiment::apply_preset(const std::string& name) {
  std::set<std::string> names;
  for (const Preset& preset : table_.presets()) {
    names.insert(preset.name);
    if (preset.name != name) continue;
    for (const auto& [key, value] : preset.settings) table_.set(key, value);
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
  std::erase_if(foreign, [&](const std::string& key) { return table_.contains(key); });
  if (foreign.empty()) return;
  const std::vector<Part> others = other_parts();
  for (const std::string& key : foreign) {
    std::vector<std::string> owners;
    for (const Part& part : others)
      if (part.options.contains(key)) owners.push_back(part.title());
    STEIN_CHECK(owners.empty(), "option '{}' needs {}; {} has none of that name", key, fmt::join(owners, " or "),
                name());
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

std::string Experiment::help() const {
  std::string text = "Options for --set and for the file of --config:\n\n";
  for (const auto& [heading, table] : sections_)
    if (!table.options().empty()) text += fmt::format("{}\n{}\n", heading, help_text(table));
  if (table_.presets().empty()) return text;
  text += "Presets for --preset:\n";
  for (const Preset& preset : table_.presets()) {
    std::vector<std::string> settings;
    for (const auto& [key, value] : preset.settings) settings.push_back(fmt::format("{}={}", key, value));
    text += fmt::format("  {}: {}\n    {}\n", preset.name, preset.description, fmt::join(settings, " "));
  }
  return text + "\n";
}

}  // namespace stein::runs
