// An experiment as a person describes it: the options of all its parts under one roof, and the run that it starts.
#pragma once

#include <stein/core/options.h>
#include <stein/runs/option_sources.h>
#include <stein/runs/part.h>
#include <stein/runs/run.h>
#include <stein/runs/seed_range.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::runs {

struct RunKind;

/// Options are flat: those of the run and of every part stand side by side, and no name may occur twice.
///
/// A kind derives from it: the constructor picks the parts (`OptionSources::look_ahead`), adds each by `add_part`, and
/// calls `read` last.
class Experiment {
 public:
  virtual ~Experiment() = default;
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// "mushroom/s2vgd".
  virtual std::string name() const = 0;
  /// Repetitions ready for their first step; the run must not outlive this object. @param data  folder with data sets,
  /// the only one looked in; empty: the usual places. Throws Error(data) where a data set is missing or damaged.
  virtual std::unique_ptr<Run> make_run(const std::string& data) const = 0;

  /// Whether a run that goes on may have another value of an option than it began with: its length and what its kind
  /// says goes with that, and where it computes, as a checkpoint is the same on all devices.
  bool may_change(std::string_view option) const;

  const RunKind& kind() const { return kind_; }
  SeedRange seeds() const { return SeedRange::parse(seeds_); }
  /// Length of every repetition in units of the kind; 0: to the end of what it reads.
  std::int64_t steps() const { return steps_; }
  /// Whether `done` steps are all of them.
  bool reached(std::int64_t done) const { return steps_ > 0 && done >= steps_; }
  std::int64_t checkpoint_every() const { return checkpoint_every_; }
  const std::string& preset() const { return preset_; }
  /// All options with their present values.
  const OptionTable& options() const { return table_; }
  /// Options with the heading of the part that they belong to; the first part is the run itself.
  const std::vector<std::pair<std::string, OptionTable>>& sections() const { return sections_; }
  /// The options under the headings of their parts, with defaults, for `--help`; behind them the parts that only those
  /// `beside` it have.
  std::string help(const std::vector<std::unique_ptr<Experiment>>& beside = {}) const;

 protected:
  /// How long a run is unless somebody says otherwise.
  struct Length {
    std::int64_t steps;
    std::int64_t checkpoint_every;
    bool may_end = false;   ///< 0 steps are allowed: to the end of what it reads
    std::string note = {};  ///< appended to what `steps` means
    std::string seeds = "0:1";
  };
  Experiment(const RunKind& kind, Length length);

  /// Adds the options of a part, under a heading of `--help`. Their fields must stay in their place.
  void add_part(std::string heading, const std::function<void(OptionTable&)>& describe);
  /// Adds the part "Run": the kind's `own` options, then seeds, steps and checkpoint_every.
  void add_run(const std::function<void(OptionTable&)>& own);
  /// Lets options that several parts have under names of their own ("svgd.hidden", "s2vgd.hidden") be set together by
  /// what follows ("hidden"), where no other option is called so. @param prefixes  "svgd", "s2vgd"
  void group_options(const std::vector<std::string>& prefixes);
  /// Offers named settings of options of several parts together, beside the presets that parts declare themselves.
  void offer_preset(Preset preset) { offered_.push_back(std::move(preset)); }
  /// Reads all sources into the options of all parts. Throws Error(usage) for unknown presets, keys and values out of
  /// range, naming the part that has an option of that name where this experiment has none.
  void read(const OptionSources& sources);
  /// Name and value of every option of a part that was added under `heading`.
  std::map<std::string, std::string> values_of(std::string_view heading) const;

 private:
  /// All that could stand in place of this experiment's parts: who has an option that it lacks.
  virtual std::vector<Part> other_parts() const;
  void apply_preset(const std::string& name);
  void fill_older_values(const OptionSources& sources);
  void refuse_options_of_others(const OptionSources& sources) const;

  const RunKind& kind_;
  Length length_;
  std::string seeds_;
  std::int64_t steps_, checkpoint_every_;
  std::string preset_;
  std::vector<std::pair<std::string, OptionTable>> sections_;
  OptionTable table_;
  std::vector<Preset> offered_;
};

}  // namespace stein::runs
