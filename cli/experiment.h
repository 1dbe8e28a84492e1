// An experiment of any kind as the program runs it: its name, its options, and the runs that it starts.
#pragma once

#include <stein/core/options.h>
#include <stein/core/progress.h>
#include <stein/core/recorder.h>
#include <stein/core/run_directory.h>
#include <stein/core/run_manifest.h>
#include <stein/core/snapshot.h>
#include <stein/core/stop_token.h>

#include <fmt/format.h>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run_cost.h"

namespace stein::cli {

/// Seeds first … end − 1.
struct SeedRange {
  std::uint64_t first = 0, end = 1;

  std::int64_t count() const { return static_cast<std::int64_t>(end - first); }
  /// From "A:B". Throws Error(usage) for anything else, for an empty range, and for more than 10,000 seeds.
  static SeedRange parse(std::string_view text);
};

/// Where options come from: a TOML file (may be empty), then `key = value` pairs in order.
struct OptionSources {
  std::string toml;
  std::string toml_name;  ///< of the file, for messages
  std::vector<std::pair<std::string, std::string>> settings;

  /// What `key` will be once all sources are read, or `otherwise`: for options that decide which others there are.
  /// Throws Error(usage) if the file is no TOML.
  std::string look_ahead(std::string_view key, std::string otherwise) const;
  /// All that they set. Throws Error(usage) if the file is no TOML.
  std::set<std::string> keys() const;
  /// Whether any of them sets `key`. Throws Error(usage) if the file is no TOML.
  bool mention(std::string_view key) const;
  /// Reads them all into `table`.
  void apply(OptionTable& table) const;
};

/// Names of options by who has them: "posterior svgd".
using OptionOwners = std::vector<std::pair<std::string, std::set<std::string>>>;

/// The names in a part's table.
template <class Part>
std::set<std::string> names_of(Part& part) {
  std::set<std::string> names;
  const OptionTable table = OptionTable::of(part);
  for (const Option& option : table.options()) names.insert(option.name);
  return names;
}

/// Adds everything that a registry has, as owners of this kind.
template <class Registry>
void add_owners(OptionOwners& owners, const std::string& kind, const Registry& registry) {
  for (const auto& [name, entry] : registry.entries())
    owners.emplace_back(fmt::format("{} {}", kind, name), names_of(*entry.builder()));
}

/// Throws Error(usage) if a source sets an option that the experiment has not but one of `others` has, saying who.
/// @param others  asked only where an option is not the experiment's own
void refuse_options_of_others(const OptionSources& sources, const OptionTable& own,
                              const std::function<OptionOwners()>& others, std::string_view experiment);

/// "key=value" as a pair. Throws Error(usage) where there is no '='.
std::pair<std::string, std::string> parse_setting(std::string_view text);

/// Name and value of every option of a builder or another part.
template <class Part>
std::map<std::string, std::string> values_of(Part& part) {
  const OptionTable table = OptionTable::of(part);
  std::map<std::string, std::string> values;
  for (const Option& option : table.options()) values[option.name] = option.text();
  return values;
}

/// Throws Error(usage) if two parts of an experiment describe the same option.
void check_names_differ(const OptionTable& table, std::string_view experiment);

/// Options with the heading of the part that they belong to.
using Sections = std::vector<std::pair<std::string, OptionTable>>;

/// The options with headings and defaults, for `--help`.
std::string help_text(const Sections& sections);

/// A run of several seeds that a session keeps on disk. `steps` are those of one seed.
class RecordedRun {
 public:
  struct Outputs {
    Recorder& recorder;
    Progress& progress;
  };

  virtual ~RecordedRun() = default;

  /// By every seed; metrics up to this number have been recorded, and no later ones.
  virtual std::int64_t steps_done() const = 0;
  /// Steps of one seed that cannot be taken apart: `advance` may go beyond what it is asked for, by less than this.
  virtual std::int64_t largest_advance() const { return 1; }
  /// Where the data or the task come from, for the first line of the log.
  virtual std::string source() const = 0;
  /// What a person should know before and after.
  virtual std::vector<std::string> notices() const { return {}; }
  virtual std::vector<std::string> warnings() const { return {}; }

  virtual RunManifest manifest() const = 0;
  /// Throws Error(data) if a run with this manifest cannot go on with the program as it is.
  virtual void check_manifest(const nlohmann::ordered_json& manifest) const { static_cast<void>(manifest); }

  /// Opens logs of its own, cut to what they were when the restored state was saved.
  virtual void open_logs(const RunDirectory& directory) { static_cast<void>(directory); }
  /// Brings every seed to `until` steps, or to fewer if asked to stop. Throws Error(numeric) if one of them diverged.
  virtual void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs) = 0;
  virtual void save(Snapshot& snapshot) = 0;
  virtual void restore(const Snapshot& snapshot) = 0;

  /// Its own part of the cost, with that of earlier processes once they were added.
  virtual nlohmann::ordered_json cost() const = 0;
  virtual void add_cost(const nlohmann::ordered_json& earlier) = 0;

  /// After the last step and the last checkpoint: records what is left, writes results beside the summary, and returns
  /// the object of summary.json. Its `steps` are those that the experiment asked for.
  virtual nlohmann::ordered_json finish(const RunDirectory& directory, const Outputs& outputs, const RunCost& cost) = 0;
};

/// What a person described: the options of all parts under one roof.
class Experiment {
 public:
  virtual ~Experiment() = default;

  /// The subcommand that starts it, which its manifest names.
  virtual const char* command() const = 0;
  /// What its steps are called.
  virtual const char* unit() const = 0;
  /// "mushroom/s2vgd".
  virtual std::string name() const = 0;
  virtual SeedRange seeds() const = 0;
  virtual std::int64_t steps() const = 0;
  virtual std::int64_t checkpoint_every() const = 0;
  /// All options with their present values.
  virtual const OptionTable& options() const = 0;
  /// Agents ready for their first step, which must not outlive this object. @param data  folder with data sets, the
  /// only one looked in; empty: the usual places. Throws Error(data) where a data set is missing or damaged.
  virtual std::unique_ptr<RecordedRun> make_run(const std::string& data) const = 0;
  /// A few aligned lines with the numbers of a summary.
  virtual std::string readable(const nlohmann::ordered_json& summary) const = 0;
};

}  // namespace stein::cli
