// Events of a log, file after file, in constant memory.
#pragma once

#include <stein/core/line_reader.h>
#include <stein/core/snapshot.h>
#include <stein/distributed/communicator.h>
#include <stein/replay/arm_table.h>
#include <stein/replay/line_block.h>
#include <stein/replay/log_format.h>
#include <stein/replay/logged_event.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::replay {

/// What to do with a line that no event can be made of.
enum class BadLines { count, stop };

/// Reads events out of files, plain or gzip, in order. Bad lines are counted by reason, and passed over or, if asked
/// to, an error.
class LogReader {
 public:
  /// @param files  at least one; the first is opened, and read up to its first line
  /// @throws Error(usage) without files, for a file that is named twice, and for a pipe or a folder; Error(data) for
  /// the first file that does
  ///         not exist, and for a first line that the format cannot begin with; Error(io)
  LogReader(std::vector<std::filesystem::path> files, std::unique_ptr<LogFormat> format, std::int64_t most_arms,
            BadLines bad_lines = BadLines::count);

  const envs::BanditSpec& spec() const { return spec_; }
  const ArmTable& arms() const { return arms_; }
  const LogFormat& format() const { return *format_; }

  /// Reads the next event; false at the end of the last file.
  /// @throws Error(data) for a file that is damaged, and, with BadLines::stop, naming file, line and reason, for a bad
  ///         line; for a file in whose first lines there is no event, saying which format it looks like; Error(io)
  bool next(LoggedEvent& event);

  /// Whether ranks can share the lines of the log.
  bool has_lines_to_share() const { return format_->lines_stand_alone(); }
  /// Collective, where it has. Reads at least one event, unless the log is at its end, and as many as `events` has room
  /// for at most: every rank finds the lines, makes events of its part of them, and gets those that the others made,
  /// without the features of arms.
  /// @returns how many it read
  /// @throws distributed::AgreedError on every rank where `next` would throw, or if the ranks do not read the same
  std::int64_t next_together(std::span<LoggedEvent> events, distributed::Communicator& ranks);
  /// Collective. What the formats have noted of the lines that they were given comes to that of the first rank.
  void bring_together(distributed::Communicator& ranks);

  /// Events so far.
  std::int64_t events() const { return events_; }
  /// Bad lines so far, by reason.
  const std::map<std::string, std::int64_t>& bad_lines() const { return bad_; }
  std::int64_t bad_line_count() const;
  /// Bytes of all files, and of those how many have been read, for progress: compressed ones where files are.
  std::uint64_t bytes() const { return bytes_before_.back(); }
  std::uint64_t bytes_read() const;

  /// Where it stands: the next event of a reader of the same files that is restored is the next one of this one.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the files are not those that were read, or are shorter.
  void restore(const Snapshot& snapshot);

 private:
  void check_files();
  /// Reads the first line of the log and lets the format begin with it.
  void begin();
  /// The next line of the file that is read; false at its end.
  bool next_line(std::string_view& line);
  /// What the format makes of a line, or of the end of the file if there is none.
  LineVerdict judge(const std::string_view* line, LoggedEvent& event);
  /// Takes up to `most` lines behind the last one; none where the next one may be a header.
  void take_block(std::int64_t most);
  /// Reads this rank's part of the lines that were taken, and makes a message of it.
  void read_part(const distributed::Communicator& ranks);
  /// Whether every rank could make something of each of its lines. Throws AgreedError if they did not have the same.
  bool all_parts_whole() const;
  /// Puts the events of all ranks one behind the other and counts what lines were. Returns how many events there are.
  std::int64_t join_parts(std::span<LoggedEvent> events, const distributed::Communicator& ranks);
  /// Every rank reads all of the lines that were taken, or the next event where there were none: a file begins or ends,
  /// or one of the lines is an error.
  std::int64_t next_alone(std::span<LoggedEvent> events, distributed::Communicator& ranks);
  void count_bad(std::string_view reason);
  [[noreturn]] void fail_wrong_format() const;
  /// Formats that the first line looks like, as the end of a sentence.
  std::string first_line_looks_like() const;

  std::vector<std::filesystem::path> files_;
  std::unique_ptr<LogFormat> format_;
  ArmTable arms_;
  envs::BanditSpec spec_;
  BadLines what_of_bad_lines_;
  std::vector<std::uint64_t> bytes_before_{0};  ///< each file, and behind the last all of them
  std::size_t file_ = 0;                        ///< that is read
  std::optional<LineReader> lines_;
  LinePosition event_end_{};  ///< of the last event in the file that is read
  std::int64_t events_ = 0, events_of_file_ = 0, bad_of_file_ = 0;
  std::string first_line_;         ///< of the file that is read
  bool first_line_waits_ = false;  ///< it has been read and is still to be given by `next_line`
  std::map<std::string, std::int64_t> bad_;
  LineBlock block_;                    ///< that ranks share
  LoggedEvent event_;                  ///< of one of its lines
  std::string message_, part_;         ///< what this rank made of its lines
  std::vector<std::string> messages_;  ///< by rank
};

/// Reasons of bad lines with how many there are: "an empty field: 3; no arm: 1".
std::string reasons_text(const std::map<std::string, std::int64_t>& bad_lines);

}  // namespace stein::replay
