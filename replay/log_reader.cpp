#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/replay/log_reader.h>

#include <algorithm>

namespace stein::replay {
namespace {

/// A file that has shown so many bad lines and no event is of another format.
constexpr std::int64_t lines_without_event = 100;
constexpr std::size_t shown_bytes = 4096;

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;  // a pipe
}

}  // namespace

LogReader::LogReader(std::vector<std::filesystem::path> files, std::unique_ptr<LogFormat> format,
                     std::int64_t most_arms, BadLines bad_lines)
    : files_(std::move(files)),
      format_(std::move(format)),
      arms_(most_arms),
      spec_(format_->spec()),
      what_of_bad_lines_(bad_lines) {
  STEIN_CHECK(!files_.empty(), "a log needs at least one file");
  spec_.arms = most_arms;
  for (const std::filesystem::path& file : files_) {
    if (!std::filesystem::exists(file)) fail(ErrorKind::data, "the log '{}' does not exist", file.string());
    bytes_ += size_of(file);
  }
}

bool LogReader::next_line(std::string_view& line) {
  while (file_ < files_.size()) {
    if (!lines_) {
      lines_.emplace(files_[file_]);
      format_->begin_file();
      event_end_ = {}, events_of_file_ = bad_of_file_ = 0;
    }
    if (lines_->next(line)) {
      if (lines_->line_number() == 1) first_line_ = line.substr(0, shown_bytes);
      return true;
    }
    return false;
  }
  return false;
}

bool LogReader::next(LoggedEvent& event) {
  while (file_ < files_.size()) {
    std::string_view line;
    const bool there = next_line(line);
    const LineVerdict verdict = there ? format_->read(line, arms_, event) : format_->finish(arms_, event);
    if (there && verdict.kind != LineVerdict::Kind::other) event_end_ = lines_->position();
    if (verdict.kind == LineVerdict::Kind::bad) count_bad(verdict.reason);
    if (!there) {
      if (events_of_file_ == 0 && verdict.kind != LineVerdict::Kind::event && bad_of_file_ > 0) fail_wrong_format();
      bytes_of_earlier_files_ += size_of(files_[file_]);
      lines_.reset();
      ++file_;
    }
    if (verdict.kind == LineVerdict::Kind::event) {
      ++events_, ++events_of_file_;
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
  std::vector<std::string> like;
  for (const auto& [name, entry] : log_formats().entries())
    if (entry.recognises(first_line_)) like.push_back(name);
  fail(ErrorKind::data, "'{}': the first {} lines hold no event of a log of '{}' ({}); {}", files_[file_].string(),
       bad_of_file_, spec_.name, bad_.begin()->first,
       like.empty() ? fmt::format("its first line looks like none of {}", fmt::join(log_formats().names(), ", "))
                    : fmt::format("its first line looks like {}", fmt::join(like, " or ")));
}

std::int64_t LogReader::bad_line_count() const {
  std::int64_t count = 0;
  for (const auto& [reason, lines] : bad_) count += lines;
  return count;
}

std::uint64_t LogReader::bytes_read() const {
  return bytes_of_earlier_files_ + (lines_ ? lines_->file_bytes_read() : 0);
}

void LogReader::save(Snapshot& snapshot) const {
  Snapshot arms;
  arms_.save(arms);
  snapshot.put_part("arms", arms);
  snapshot.put("file", static_cast<std::int64_t>(file_));
  snapshot.put("position", std::vector<std::int64_t>{static_cast<std::int64_t>(event_end_.bytes),
                                                     static_cast<std::int64_t>(event_end_.lines)});
  snapshot.put("events", std::vector<std::int64_t>{events_, events_of_file_, bad_of_file_});
  Snapshot bad;
  for (const auto& [reason, lines] : bad_) bad.put(reason, lines);
  snapshot.put_part("bad_lines", bad);
}

void LogReader::restore(const Snapshot& snapshot) {
  arms_.restore(snapshot.part("arms"));
  file_ = static_cast<std::size_t>(snapshot.get_scalar<std::int64_t>("file"));
  const auto position = snapshot.get_vector<std::int64_t>("position"),
             counts = snapshot.get_vector<std::int64_t>("events");
  if (file_ > files_.size() || position.size() != 2 || counts.size() != 3)
    fail(ErrorKind::data, "the saved place in the log does not fit {} files", files_.size());
  lines_.reset();
  bytes_of_earlier_files_ = 0;
  for (std::size_t k = 0; k < file_; ++k) bytes_of_earlier_files_ += size_of(files_[k]);
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
  events_ = counts[0], events_of_file_ = counts[1], bad_of_file_ = counts[2];
}

}  // namespace stein::replay
