// Events of a log, file after file, in constant memory.
#pragma once

#include <stein/core/line_reader.h>
#include <stein/core/snapshot.h>
#include <stein/replay/arm_table.h>
#include <stein/replay/log_format.h>
#include <stein/replay/logged_event.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::replay {

/// What to do with a line that no event can be made of.
enum class BadLines { count, stop };

/// Reads events out of files, plain or gzip, in order. Bad lines are counted by reason, and passed over or, if asked
/// to, an error.
class LogReader {
 public:
  /// @param files  at least one
  /// @throws Error(usage) without files; Error(data) for the first that does not exist
  LogReader(std::vector<std::filesystem::path> files, std::unique_ptr<LogFormat> format, std::int64_t most_arms,
            BadLines bad_lines = BadLines::count);

  const envs::BanditSpec& spec() const { return spec_; }
  const ArmTable& arms() const { return arms_; }

  /// Reads the next event; false at the end of the last file.
  /// @throws Error(data) for a file that is damaged, and, with BadLines::stop, naming file, line and reason, for a bad
  ///         line; for a file in whose first lines there is no event, saying which format it looks like; Error(io)
  bool next(LoggedEvent& event);

  /// Events so far.
  std::int64_t events() const { return events_; }
  /// Bad lines so far, by reason.
  const std::map<std::string, std::int64_t>& bad_lines() const { return bad_; }
  std::int64_t bad_line_count() const;
  /// Bytes of all files, and of those how many have been read, for progress: compressed ones where files are.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_read() const;

  /// Where it stands: the next event of a reader of the same files that is restored is the next one of this one.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the files are not those that were read, or are shorter.
  void restore(const Snapshot& snapshot);

 private:
  bool next_line(std::string_view& line);
  void count_bad(std::string_view reason);
  [[noreturn]] void fail_wrong_format() const;

  std::vector<std::filesystem::path> files_;
  std::unique_ptr<LogFormat> format_;
  ArmTable arms_;
  envs::BanditSpec spec_;
  BadLines what_of_bad_lines_;
  std::uint64_t bytes_ = 0, bytes_of_earlier_files_ = 0;
  std::size_t file_ = 0;  ///< that is read
  std::optional<LineReader> lines_;
  LinePosition event_end_{};  ///< of the last event in the file that is read
  std::int64_t events_ = 0, events_of_file_ = 0, bad_of_file_ = 0;
  std::string first_line_;  ///< of the file that is read, its first bytes
  std::map<std::string, std::int64_t> bad_;
};

}  // namespace stein::replay
