// What lines of a log mean: one class a format, by name.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>
#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/replay/arm_table.h>
#include <stein/replay/logged_event.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// What a line turned out to be.
struct LineVerdict {
  /// What a line may be.
  enum class Kind {
    event,  ///< an event ends with it
    other,  ///< nothing on its own: a header, or part of an event that has not ended
    bad,    ///< no event can be made of it
  };
  Kind kind = Kind::event;
  std::string_view reason = {};  ///< of a bad line: a few words that lines are counted by, a literal

  static LineVerdict bad(std::string_view reason) { return {Kind::bad, reason}; }
};

/// Turns lines into events. It knows nothing of files.
class LogFormat {
 public:
  virtual ~LogFormat() = default;

  /// The log begins with `first_line`, which is empty if its first file is. Called once and before anything else, so
  /// that a format whose bandit stands in its first line can take it from there; `read` gets the line again.
  /// Throws Error(data) that says what was expected and what was found.
  virtual void begin(std::string_view first_line) { static_cast<void>(first_line); }
  /// What a policy needs to know of the bandit that the log tells of; `arms` is 0 where it shows only as events come.
  virtual const envs::BanditSpec& spec() const = 0;
  /// Names of the columns of the context in their order, where contexts have names; of those that were begun last.
  virtual std::vector<std::string> context_names() const { return {}; }
  /// The arms of the whole log, where somebody has counted them: a format whose lines do not say who could be chosen
  /// takes all of these. Before `begin`.
  virtual void know_arms(const std::vector<std::string>& names) { static_cast<void>(names); }
  /// What makes one doubt that columns say what lines do: sentences, or empty texts. Of the lines read so far.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Reads a line; `event` is whole where it says Kind::event, and of no use otherwise.
  virtual LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) = 0;
  /// In place of `begin` where contexts alone are read: the first line of those. Throws Error(usage) for a format whose
  /// lines are nothing without a decision, which is what this one says.
  virtual void begin_contexts(std::string_view first_line);
  /// Reads a line of a context alone, as a service gets it before a decision: where it says Kind::event, `dense`,
  /// `active`, `present` and `arm_features` of the event are what the line says, for `Context::check` to look at, and
  /// the rest of it is of no use.
  virtual LineVerdict read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) {
    static_cast<void>(line), static_cast<void>(arms), static_cast<void>(event);
    return LineVerdict::bad("this format has no contexts without decisions");
  }
  /// The file has ended: of formats whose events have several lines, the one that the last line belonged to.
  virtual LineVerdict finish(ArmTable& arms, LoggedEvent& event) {
    static_cast<void>(arms), static_cast<void>(event);
    return {LineVerdict::Kind::other};
  }
  /// The same where contexts alone are read.
  virtual LineVerdict finish_context(ArmTable& arms, LoggedEvent& event) {
    static_cast<void>(arms), static_cast<void>(event);
    return {LineVerdict::Kind::other};
  }
  /// A file begins: what was known of the one before, such as its header, is of no use.
  virtual void begin_file() {}
  /// Whether what `read` makes of a line behind the first event of its file owes nothing to other such lines. Ranks can
  /// then share the lines of a file: a format that reads some of them is as good as one that has read all.
  virtual bool lines_stand_alone() const { return false; }
  /// Takes note of what another one has seen, of which `other` is the saved state: where ranks share lines, and
  /// something is saved.
  virtual void add_notes(const Snapshot& other) { static_cast<void>(other); }

  /// What later verdicts depend on besides the lines to come. Called behind the last line of an event.
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  /// Goes back to what was saved; lines of an event that has not ended are forgotten.
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }
};

/// A registered format: its line in `stein list`, its options, its factory.
struct LogFormatEntry {
  std::string description;
  /// Whether a line looks like one of this format: for the sentence that a wrong `--format` gets.
  std::function<bool(std::string_view line)> recognises;
  /// Options that are set one by one, and the format that they describe.
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    virtual std::unique_ptr<LogFormat> make() const = 0;
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All formats that are linked in.
Registry<LogFormatEntry>& log_formats();

/// Registers `Format`, which has `Options`, a constructor (const Options&) and a static `recognises(line)`.
template <class Format>
bool register_log_format(const std::string& name, std::string description) {
  using Base = OptionsBuilder<LogFormatEntry::Builder, typename Format::Options>;
  struct FormatBuilder final : Base {
    FormatBuilder() : Base({}) {}
    std::unique_ptr<LogFormat> make() const override { return std::make_unique<Format>(this->template part<0>()); }
  };
  return log_formats().add(name, {std::move(description), Format::recognises,
                                  [] { return std::unique_ptr<LogFormatEntry::Builder>(new FormatBuilder); }});
}

}  // namespace stein::replay
