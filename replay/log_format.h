// What lines of a log mean: one class a format, by name.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>
#include <stein/envs/bandit_spec.h>
#include <stein/replay/arm_table.h>
#include <stein/replay/logged_event.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

  /// What a policy needs to know of the bandit that the log tells of.
  virtual const envs::BanditSpec& spec() const = 0;
  /// Reads a line; `event` is whole where it says Kind::event, and of no use otherwise.
  virtual LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) = 0;
  /// The file has ended: of formats whose events have several lines, the one that the last line belonged to.
  virtual LineVerdict finish(ArmTable& arms, LoggedEvent& event) {
    static_cast<void>(arms), static_cast<void>(event);
    return {LineVerdict::Kind::other};
  }
  /// A file begins: what was known of the one before, such as its header, is of no use.
  virtual void begin_file() {}
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
