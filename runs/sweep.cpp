#include <fmt/ranges.h>
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/core/remove_file.h>
#include <stein/runs/json_file.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/sweep.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stein::runs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* file_name = "sweep.json";
constexpr std::size_t most_runs = 10'000;
constexpr std::size_t longest_name = 255;  // of a file, nearly everywhere [bytes]

using Settings = std::vector<std::pair<std::string, std::string>>;

/// "step_size=0.1_hidden=50,50", without what a file's name should not have.
std::string name_of(const Settings& settings) {
  std::string name;
  for (const auto& [key, value] : settings) name += fmt::format("{}{}={}", name.empty() ? "" : "_", key, value);
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '\\' || c == ' '; }, '-');
  return name;
}

/// The sources with the settings of a combination. A setting "svgd.particles" is one of the runs in which an axis has
/// the value svgd, and there wins over "particles".
OptionSources with(OptionSources sources, const Settings& combination, const std::vector<SweepAxis>& axes) {
  Settings of_all, of_this;
  for (const auto& setting : sources.settings) {
    const std::size_t point = setting.first.find('.');
    const std::string value = setting.first.substr(0, point);
    const auto has = [&](const SweepAxis& axis) { return std::ranges::find(axis.values, value) != axis.values.end(); };
    if (point == std::string::npos || std::ranges::none_of(axes, has))
      of_all.push_back(setting);
    else if (std::ranges::any_of(combination, [&](const auto& chosen) { return chosen.second == value; }))
      of_this.emplace_back(setting.first.substr(point + 1), setting.second);
  }
  of_all.insert(of_all.end(), combination.begin(), combination.end());
  of_all.insert(of_all.end(), of_this.begin(), of_this.end());
  sources.settings = std::move(of_all);
  return sources;
}

/// Options that the sources name, but for those of an axis, and at least one of the experiments has.
std::set<std::string> options_of_some(const std::string& subcommand, OptionSources sources,
                                      const std::vector<Settings>& combinations, const std::vector<SweepAxis>& axes) {
  std::set<std::string> named = sources.keys(), known;
  for (const auto& [key, value] : combinations.front()) named.erase(key);
  sources.of_others = named;
  for (const Settings& combination : combinations) {
    const OptionSources all = with(sources, combination, axes);
    const RunKind& kind = kind_of(subcommand, all);
    const auto experiment = kind.make(kind, all);
    for (const std::string& key : named)
      if (experiment->options().contains(key)) known.insert(key);
  }
  return known;
}

/// "wheel/svgd+lints" of "wheel/svgd" and "wheel/lints": what stands between slashes, once each.
std::string joined(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> levels;
  for (const std::string& name : names) {
    std::size_t level = 0;
    for (const fs::path& part : fs::path(name)) {
      if (level == levels.size()) levels.emplace_back();
      std::vector<std::string>& known = levels[level++];
      if (std::ranges::find(known, part.string()) == known.end()) known.push_back(part.string());
    }
  }
  std::string text;
  for (const auto& level : levels) text += fmt::format("{}{}", text.empty() ? "" : "/", fmt::join(level, "+"));
  return text;
}

/// Whether there is anything but a lock file or an unfinished write.
bool holds_files(const fs::path& directory) {
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(directory, ignored), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name != RunDirectory::lock_name && !is_unfinished_file(name);
  });
}

/// Every value of every axis with every other, the last axis changing first.
std::vector<Settings> combinations_of(const std::vector<SweepAxis>& axes) {
  std::vector<Settings> combinations{{}};
  for (const SweepAxis& axis : axes) {
    STEIN_CHECK(combinations.size() * axis.values.size() <= most_runs, "--sweep: at most {} runs, got more", most_runs);
    std::vector<Settings> more;
    for (const Settings& combination : combinations)
      for (const std::string& value : axis.values) {
        more.push_back(combination);
        more.back().emplace_back(axis.key, value);
      }
    combinations = std::move(more);
  }
  return combinations;
}

}  // namespace

Sweep Sweep::plan(const std::string& subcommand, const OptionSources& sources, const std::vector<SweepAxis>& axes,
                  fs::path directory) {
  Sweep sweep;
  sweep.directory_ = std::move(directory);
  sweep.axes_ = axes;
  sweep.preset_ = sources.preset;
  if (!sources.data.empty()) sweep.data_ = fs::absolute(sources.data).string();
  for (const SweepAxis& axis : axes) {
    STEIN_CHECK(std::ranges::count(axes, axis.key, &SweepAxis::key) == 1, "--sweep: '{}' is swept twice", axis.key);
    STEIN_CHECK(std::ranges::none_of(sources.settings, [&](const auto& setting) { return setting.first == axis.key; }),
                "--sweep {}: it is set as well, to one value", axis.key);
  }
  const std::vector<Settings> combinations = combinations_of(axes);
  OptionSources shared = sources;
  shared.of_others = options_of_some(subcommand, sources, combinations, axes);
  for (const Settings& combination : combinations)
    sweep.add_run(subcommand, with(shared, combination, axes), combination);
  return sweep;
}

void Sweep::check(const SessionOptions& options, Existing existing) const {
  const std::string& data = options.data.empty() ? data_ : options.data;
  for (const Planned& planned : runs_) {
    if (options.stop.stop_requested()) return;
    const bool begun = !directory_.empty() && RunDirectory::is_in(directory_ / planned.name);
    if (begun && existing != Existing::overwrite) continue;
    try {
      static_cast<void>(experiment(planned, data)->make_run(data));
    } catch (const Error& error) {
      fail(error.kind(), "{}: {}", planned.name, error.what());
    }
  }
}

void Sweep::claim_directory() {
  directory_ = runs::claim_directory(joined(names_));
}

void Sweep::add_run(const std::string& subcommand, const OptionSources& sources, const Settings& combination) {
  const RunKind& kind = kind_of(subcommand, sources);
  const auto experiment = kind.make(kind, sources);
  STEIN_CHECK(kind_.empty() || kind_ == kind.name, "--sweep: runs of the kinds {} and {} have no table", kind_,
              kind.name);
  kind_ = kind.name;
  Planned run{.name = name_of(combination),
              .settings = {combination.begin(), combination.end()},
              .config = to_toml(experiment->options())};
  STEIN_CHECK(run.name.size() <= longest_name,
              "--sweep: the folder of a run is named after its settings, which may take {} bytes; '{}…' takes {}",
              longest_name, run.name.substr(0, 40), run.name.size());
  STEIN_CHECK(std::ranges::find(runs_, run.name, &Planned::name) == runs_.end(),
              "--sweep: two runs would have the folder '{}'; name the values apart", run.name);
  for (const Planned& other : runs_)
    STEIN_CHECK(other.config != run.config, "--sweep: the runs '{}' and '{}' are one: all their options are the same",
                other.name, run.name);
  runs_.push_back(std::move(run));
  names_.push_back(experiment->name());
}

bool Sweep::is_in(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / file_name, ignored);
}

Sweep Sweep::open(const fs::path& directory, Access access) {
  if (!is_in(directory)) fail(ErrorKind::data, "there is no sweep in '{}'", directory.string());
  Sweep sweep;
  sweep.directory_ = directory;
  if (access == Access::write) sweep.lock_ = sweep.take_lock();
  try {
    const Json json = read_json_object(directory / file_name);
    for (const char* key : {"kind", "axes", "runs"})
      if (!json.contains(key))
        fail(ErrorKind::data, "'{}' is no plan of a sweep: expected the key '{}', there is none",
             (directory / file_name).string(), key);
    sweep.kind_ = json.at("kind").get<std::string>();
    sweep.preset_ = json.value("preset", "");
    sweep.data_ = json.value("data", "");
    for (const auto& [key, value] : json.value("longer", std::map<std::string, std::string>{}))
      sweep.longer_.emplace_back(key, value);
    for (const Json& axis : json.at("axes"))
      sweep.axes_.push_back({.key = axis.at("key"), .values = axis.at("values").get<std::vector<std::string>>()});
    for (const Json& run : json.at("runs")) {
      sweep.runs_.push_back({.name = run.at("directory"),
                             .settings = run.at("settings").get<std::map<std::string, std::string>>(),
                             .config = run.at("config")});
      for (const SweepAxis& axis : sweep.axes_)
        if (!sweep.runs_.back().settings.contains(axis.key))
          fail(ErrorKind::data, "'{}' is no plan of a sweep: the run '{}' has no value of '{}'",
               (directory / file_name).string(), sweep.runs_.back().name, axis.key);
    }
    return sweep;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "'{}' is no plan of a sweep: {}", (directory / file_name).string(), error.what());
  }
}

Json Sweep::to_json() const {
  Json axes = Json::array(), runs = Json::array();
  for (const SweepAxis& axis : axes_) axes.push_back({{"key", axis.key}, {"values", axis.values}});
  for (const Planned& run : runs_)
    runs.push_back({{"directory", run.name}, {"settings", run.settings}, {"config", run.config}});
  Json json{{"kind", kind_}, {"preset", preset_}, {"data", data_}, {"axes", axes}, {"runs", runs}};
  for (const auto& [key, value] : longer_) json["longer"][key] = value;
  return json;
}

std::vector<fs::path> Sweep::runs() const {
  std::vector<fs::path> paths;
  for (const Planned& run : runs_) paths.push_back(directory_ / run.name);
  return paths;
}

std::vector<std::string> Sweep::labels() const {
  const auto kind = run_kinds().entries().find(kind_);
  const std::string compared = kind == run_kinds().entries().end() ? "" : kind->second.compared;
  std::vector<std::string> labels;
  for (const Planned& run : runs_) {
    std::vector<std::string> settings;
    for (const SweepAxis& axis : axes_)
      settings.push_back(fmt::format("{}{}", axis.key == compared ? "" : axis.key + "=", run.settings.at(axis.key)));
    labels.push_back(fmt::format("{}", fmt::join(settings, ", ")));
  }
  return labels;
}

void Sweep::write(Existing existing) {
  STEIN_CHECK(is_in(directory_) || !holds_files(directory_),
              "'{}' holds files that are no sweep: nothing was overwritten, choose another --out", directory_.string());
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) fail(ErrorKind::io, "cannot make '{}': {}", directory_.string(), error.message());
  lock_.reset();
  std::optional<FileLock> lock = take_lock();
  bool changes = true;
  if (is_in(directory_) && existing == Existing::refuse) {
    const Sweep there = open(directory_);
    STEIN_CHECK(there.kind_ == kind_ && there.axes_ == axes_ && there.runs_ == runs_,
                "'{0}' holds another sweep: continue it with `stein resume {0}`, pass --overwrite to replace its runs, "
                "or choose another --out",
                directory_.string());
    STEIN_CHECK(there.longer_.empty(), "the sweep in '{0}' was made longer: continue it with `stein resume {0}`",
                directory_.string());
    changes = !data_.empty() && data_ != there.data_;
  } else if (is_in(directory_)) {
    remove_earlier();
  }
  if (changes) write_file_atomically(directory_ / file_name, to_json().dump(2) + "\n");
  lock_ = std::move(lock);
}

void Sweep::lengthen(const Settings& settings, Access access) {
  std::map<std::string, std::string> longer(longer_.begin(), longer_.end());
  std::vector<std::int64_t> planned_steps;
  for (const Planned& planned : runs_) planned_steps.push_back(experiment(planned, data_)->steps());
  for (const auto& [key, value] : settings) {
    STEIN_CHECK(std::ranges::find(axes_, key, &SweepAxis::key) == axes_.end(),
                "the sweep compares runs with different {0}: {0} cannot be set for all of them", key);
    STEIN_CHECK(key != "device" && experiment(runs_.front(), data_)->may_change(key),
                "the runs of a sweep may become longer and nothing else, got '{}={}'", key, value);
    longer[key] = value;
  }
  STEIN_CHECK(longer.contains("steps"), "runs of a sweep become longer by steps: expected steps too");
  longer_ = {longer.begin(), longer.end()};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::int64_t steps = experiment(runs_[i], data_)->steps();
    STEIN_CHECK(planned_steps[i] > 0 && (steps == 0 || steps >= planned_steps[i]),
                "the run {} is planned with steps = {}, steps = {} asks for fewer", runs_[i].name,
                planned_steps[i] > 0 ? std::to_string(planned_steps[i]) : "0 (to the end)", steps);
  }
  if (access == Access::write) write_file_atomically(directory_ / file_name, to_json().dump(2) + "\n");
}

/// Throws Error(usage) if another process is at work on the sweep.
std::optional<FileLock> Sweep::take_lock() const {
  std::optional<FileLock> lock = FileLock::take(directory_ / RunDirectory::lock_name);
  STEIN_CHECK(lock.has_value(),
              "another process is at work on the sweep in '{}': wait until it ends, or work in another folder",
              directory_.string());
  return lock;
}

/// Runs of the sweep that is there and where this one's will be, and the report. Looks at all before the first goes.
void Sweep::remove_earlier() const {
  std::vector<fs::path> folders = runs();
  try {
    for (const fs::path& earlier : open(directory_).runs())
      if (std::ranges::find(folders, earlier) == folders.end()) folders.push_back(earlier);
  } catch (const Error& error) {
    log_warning("{}; only runs that the new plan replaces are removed", error.what());
  }
  RunDirectory::remove(folders, all_files());
  remove_file(page());
}

bool Sweep::diverged(const fs::path& run) {
  std::error_code ignored;
  return RunDirectory::is_in(run) && fs::exists(RunDirectory::open(run).divergence(), ignored);
}

std::unique_ptr<Experiment> Sweep::experiment(const Planned& planned, const std::string& data) const {
  const RunKind& kind = run_kinds().at(kind_);
  return kind.make(kind, {.preset = preset_,
                          .toml = planned.config,
                          .toml_name = file_name,
                          .settings = longer_,
                          .data = data,
                          .of_run = true});
}

Json Sweep::summary() const {
  Json summaries = Json::array();
  for (const Planned& planned : runs_) {
    const fs::path path = directory_ / planned.name;
    if (!RunDirectory::is_in(path)) continue;
    const RunDirectory run = RunDirectory::open(path);
    std::error_code ignored;
    if (fs::exists(run.divergence(), ignored))
      summaries.push_back({{"settings", planned.settings}, {"diverged", read_file(run.divergence())}});
    if (!fs::exists(run.summary(), ignored)) continue;
    summaries.push_back(read_json_object(run.summary()));
    summaries.back()["settings"] = planned.settings;
  }
  Json axes = Json::object();
  for (const SweepAxis& axis : axes_) axes[axis.key] = axis.values;
  return {{"sweep", axes}, {"kind", kind_}, {"runs", summaries}, {"directory", directory_.string()}};
}

}  // namespace stein::runs
