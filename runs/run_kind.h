// Kinds of runs by name: what a subcommand starts, and what the rest of the program needs to know of its runs.
#pragma once

#include <stein/core/registry.h>
#include <stein/runs/experiment.h>
#include <stein/runs/run_action.h>
#include <stein/runs/run_record.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stein::runs {

/// A column of the table that shows runs side by side in a terminal; it is left out where its text is empty for all,
/// and a text of several lines takes as many rows.
struct SummaryColumn {
  std::string heading;
  std::function<std::string(const nlohmann::ordered_json& summary)> text;
};

/// How runs of a kind stand in a report. `script`, `label` and `columns` are required.
struct ReportLayout {
  /// JavaScript: an expression, a function of the `tools` of report/page.js that returns what is listed there: {name,
  /// title, badge, section, facts, palette, method}.
  std::string script;
  std::string task = "env";                  ///< field of the summary: what was played or learned
  std::string task_options = "env_options";  ///< field of the manifest's protocol: options that tell tasks apart
  std::vector<std::string> grouped_by{};     ///< fields of the summary in which runs that can be compared are equal
  std::vector<std::string> needs{};          ///< further fields of the summary that the columns and the script read
  std::string first_column = "run";          ///< heading of the labels
  std::vector<SummaryColumn> columns{};
  /// What a run is called beside others of its task.
  std::function<std::string(const nlohmann::ordered_json& summary)> label{};
  /// Into how many parts a metric's curve is averaged; 0: shown as recorded.
  std::function<std::int64_t(std::string_view tag)> curve_parts{};
  /// What the script gets of a run besides summary, manifest, configuration and curves: its result files, made small.
  std::function<nlohmann::ordered_json(const RunRecord& record)> data{};
};

/// A kind of run. Registered by the room that it belongs to; nothing else names it. A summary has the fields that
/// `report` names, of which `data`, where there is one and it is not the task itself, is "real" or "synthetic".
struct RunKind {
  std::string name;  ///< "bandit"
  /// That starts it: "bandit", or with the group that it belongs to "lm train"; several kinds may share one.
  std::string subcommand;
  std::string description;  ///< one line, of the subcommand
  /// One line of help on the group that the subcommand belongs to; one kind of the group is enough. Where none has it,
  /// a subcommand's description stands for its group.
  std::string group_description{};
  std::string unit;       ///< what steps are called: "interactions"
  std::string directory;  ///< how runs are named by default, for help: "ENV-POLICY"
  /// Options that have an argument of their own: `env` is `--env NAME`; one that is true or false is a flag.
  std::vector<std::string> arguments{};
  /// The option whose values are compared: several, with commas between, are a run each, on the same seeds.
  std::string compared{};
  /// Fields of the summary, as `measured` makes them, in which runs on the same seeds are compared pair by pair:
  /// "regret", "test/error".
  std::vector<std::string> paired{};
  std::vector<std::string> with_length{};  ///< options that may change where a run is made longer: "decay_steps"
  bool reads_data = false;                 ///< `--data DIR` says where data sets are
  /// Whether the subcommand means this kind; needed where several share it, and decided by what they name as data.
  std::function<bool(const OptionSources&)> recognises{};
  /// Names that an option `data` of this kind takes, where several kinds share a subcommand: what a person may have
  /// meant.
  std::function<std::vector<std::string>()> data_names{};
  std::function<std::unique_ptr<Experiment>(const RunKind&, const OptionSources&)> make;
  /// Everything that experiments of this kind can be put together from, with the options.
  std::function<std::vector<Part>()> parts;
  std::vector<std::string> log_files{};     ///< that grow while a run goes on: "decisions.jsonl"
  std::vector<std::string> result_files{};  ///< written at the end, read by reports; gone while a run is made longer
  /// A few aligned lines with the numbers of a summary.
  std::function<std::string(const nlohmann::ordered_json& summary)> readable;
  ReportLayout report;
  /// The options of a run that makes the network of another one sparse: `stein compress`; none where there is none.
  /// @param share  of its weights that are zero in the end, in (0, 1)
  std::function<OptionSources(const Experiment& trained, const std::string& directory, double share)> compressed{};
  /// By verb: "eval", "predict". One called "render" has an option `terminal`, which `--render` sets after a run.
  std::map<std::string, std::function<std::unique_ptr<RunAction>()>> actions{};

  /// Names of all files that its runs write besides those of every run.
  std::vector<std::string> files() const;
};

/// All kinds that are linked in.
Registry<RunKind>& run_kinds();

/// Registers `kind` under its name; a namespace-scope constant can do it. Throws Error(usage) naming what it lacks.
bool register_run_kind(RunKind kind);

/// The kind that `subcommand` means with these options. Throws Error(usage) where it has none that recognises them.
const RunKind& kind_of(std::string_view subcommand, const OptionSources& sources);

/// The kind of the run in `directory`, by its manifest. Throws Error(data) if the program has no such kind.
const RunKind& kind_of(const RunDirectory& directory);

/// The kinds of a subcommand, in the order of their names.
std::vector<const RunKind*> kinds_of(std::string_view subcommand);

/// Names of all files that runs of any kind write besides the usual ones.
std::vector<std::string> all_files();

}  // namespace stein::runs
