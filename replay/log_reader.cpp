#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/replay/log_reader.h>

#include <algorithm>
#include <set>

namespace stein::replay {
namespace {

/// A file that has shown so many bad lines and no event is of another format.
constexpr std::int64_t lines_without_event = 100;

/// The file that a path leads to, whatever links it goes through.
std::filesystem::path resolved(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::canonical(file, error);
  return error ? file : target;
}

}  // namespace

LogReader::LogReader(std::vector<std::filesystem::path> files, std::unique_ptr<LogFormat> format,
                     std::int64_t most_arms, BadLines bad_lines)
    : files_(std::move(files)), format_(std::move(format)), arms_(most_arms), what_of_bad_lines_(bad_lines) {
  check_files();
  begin();
  spec_ = format_->spec();
  if (spec_.arms == 0) spec_.arms = most_arms;
}

void LogReader::check_files() {
  STEIN_CHECK(!files_.empty(), "a log needs at least one file");
  std::set<std::filesystem::path> seen;
  for (const std::filesystem::path& file : files_) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) fail(ErrorKind::data, "the log '{}' does not exist", file.string());
    STEIN_CHECK(std::filesystem::is_regular_file(file, ignored),
                "the log '{}' is not a file: a log is read once for every seed, and again where a run is resumed, "
                "which a pipe or a folder cannot be",
                file.string());
    STEIN_CHECK(seen.insert(resolved(file)).second, "the file '{}' is named twice: its events would count twice",
                file.string());
    bytes_before_.push_back(bytes_before_.back() + std::filesystem::file_size(file));
  }
}

void LogReader::begin() {
  lines_.emplace(files_.front());
  std::string_view line;
  first_line_waits_ = lines_->next(line);
  first_line_ = line;
  try {
    format_->begin(first_line_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    lines_->fail_here("{}; {}", error.what(), first_line_looks_like());
  }
  format_->begin_file();
}

bool LogReader::next_line(std::string_view& line) {
  if (first_line_waits_) {
    first_line_waits_ = false;
    line = first_line_;
    return true;
  }
  if (!lines_) {
    lines_.emplace(files_[file_]);
    format_->begin_file();
  }
  if (!lines_->next(line)) return false;
  if (lines_->line_number() == 1) first_line_ = line;
  return true;
}

LineVerdict LogReader::judge(const std::string_view* line, LoggedEvent& event) {
  try {
    return line != nullptr ? format_->read(*line, arms_, event) : format_->finish(arms_, event);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    lines_->fail_here("{}", error.what());
  }
}

bool LogReader::next(LoggedEvent& event) {
  while (file_ < files_.size()) {
    std::string_view line;
    const bool there = next_line(line);
    const LineVerdict verdict = judge(there ? &line : nullptr, event);
    if (there && verdict.kind != LineVerdict::Kind::other) event_end_ = lines_->position();
    if (verdict.kind == LineVerdict::Kind::bad) count_bad(verdict.reason);
    if (!there) {
      if (events_of_file_ == 0 && verdict.kind != LineVerdict::Kind::event && bad_of_file_ > 0) fail_wrong_format();
      lines_.reset();
      ++file_;
      event_end_ = {}, events_of_file_ = bad_of_file_ = 0;
    }
    if (verdict.kind == LineVerdict::Kind::event) {
      ++events_;
      if (there) ++events_of_file_;
      return true;
    }
  }
  return false;
}

void LogReader::count_bad(std::string_view reason) {
  if (what_of_bad_lines_ == BadLines::stop) lines_->fail_here("{}", reason);
  ++bad_[std::string(reason)];
  ++bad_of_file_;
  if (events_of_file_ == 0 && bad_of_file_ == lines_without_event) fail_wrong_format();
}

void LogReader::fail_wrong_format() const {
  fail(ErrorKind::data, "'{}': the first {} lines hold no event of a log of '{}' ({}); {}", files_[file_].string(),
       bad_of_file_, spec_.name, reasons_text(bad_), first_line_looks_like());
}

std::string LogReader::first_line_looks_like() const {
  std::vector<std::string> like;
  for (const auto& [name, entry] : log_formats().entries())
    if (entry.recognises(first_line_)) like.push_back(name);
  return like.empty()
             ? fmt::format("its first line looks like none of {}", fmt::join(log_formats().names(), ", "))
             : fmt::format("its first line looks like {} (--format {})", fmt::join(like, " or "), like.front());
}

std::int64_t LogReader::bad_line_count() const {
  std::int64_t count = 0;
  for (const auto& [reason, lines] : bad_) count += lines;
  return count;
}

std::uint64_t LogReader::bytes_read() const {
  // Of a plain file what lies in the buffer has been read and is still to come.
  return bytes_before_[file_] + (lines_ ? std::min(lines_->file_bytes_read(), lines_->position().bytes) : 0);
}

void LogReader::save(Snapshot& snapshot) const {
  snapshot.put_saved("arms", arms_);
  snapshot.put("file", static_cast<std::int64_t>(file_));
  snapshot.put("position", std::vector<std::int64_t>{static_cast<std::int64_t>(event_end_.bytes),
                                                     static_cast<std::int64_t>(event_end_.lines)});
  snapshot.put("events", std::vector<std::int64_t>{events_, events_of_file_, bad_of_file_});
  Snapshot bad;
  for (const auto& [reason, lines] : bad_) bad.put(reason, lines);
  snapshot.put_part("bad_lines", bad);
  snapshot.put_saved("format", *format_);
}

void LogReader::restore(const Snapshot& snapshot) {
  arms_.restore(snapshot.part("arms"));
  file_ = static_cast<std::size_t>(snapshot.get_scalar<std::int64_t>("file"));
  const auto position = snapshot.get_vector<std::int64_t>("position"),
             counts = snapshot.get_vector<std::int64_t>("events");
  if (file_ > files_.size() || position.size() != 2 || counts.size() != 3)
    fail(ErrorKind::data, "the saved place in the log does not fit {} files", files_.size());
  lines_.reset();
  first_line_waits_ = false;
  event_end_ = {};
  bad_.clear();
  const Snapshot bad = snapshot.part("bad_lines");
  for (const auto& [reason, array] : bad.arrays()) bad_[reason] = bad.get_scalar<std::int64_t>(reason);
  if (file_ < files_.size() && position[0] > 0) {
    // What a format learns from the head of a file it reads again.
    LoggedEvent head;
    std::string_view line;
    while (next_line(line) && format_->read(line, arms_, head).kind == LineVerdict::Kind::other &&
           lines_->position().bytes < static_cast<std::uint64_t>(position[0])) {
    }
    lines_->skip_to({static_cast<std::uint64_t>(position[0]), static_cast<std::uint64_t>(position[1])});
    event_end_ = lines_->position();
  }
  format_->restore(snapshot.part("format"));
  events_ = counts[0], events_of_file_ = counts[1], bad_of_file_ = counts[2];
}

std::string reasons_text(const std::map<std::string, std::int64_t>& bad_lines) {
  std::string text;
  for (const auto& [reason, lines] : bad_lines)
    text += fmt::format("{}{} × {}", text.empty() ? "" : "; ", lines, reason);
  return text;
}

}  // namespace stein::replay
