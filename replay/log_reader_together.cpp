// A log that ranks read together: each makes events of a part of its lines.
#include <stein/distributed/agree.h>
#include <stein/distributed/exchange.h>
#include <stein/distributed/snapshot_message.h>
#include <stein/replay/log_reader.h>

#include <algorithm>

namespace stein::replay {
namespace {

using distributed::Communicator, distributed::PartRange;
using Kind = LineVerdict::Kind;

/// Text of lines that are kept at the same time: long lines come in smaller blocks.
constexpr std::size_t most_bytes = std::size_t{8} << 20;

/// What stands before a rank's part.
struct Head {
  std::uint64_t lines = 0;    ///< of the block
  LinePosition begin{};       ///< of the block
  std::int64_t is_whole = 1;  ///< whether the rank could make something of each of its lines

  bool has_lines_of(const Head& other) const { return lines == other.lines && begin == other.begin; }
};

Head take_head(std::string_view& message) {
  Head head;
  distributed::read_numbers(message, std::span(&head, 1));
  return head;
}

}  // namespace

std::int64_t LogReader::next_together(std::span<LoggedEvent> events, Communicator& ranks) {
  while (true) {
    const auto failure = distributed::failure_of(distributed::thrown_by([&] {
                                                   take_block(std::ssize(events));
                                                   read_part(ranks);
                                                 }),
                                                 ranks.rank());
    distributed::exchange(ranks, failure, message_, messages_);
    if (block_.size() == 0 || !all_parts_whole()) return next_alone(events, ranks);
    if (const std::int64_t read = join_parts(events, ranks); read > 0) return read;
  }
}

std::int64_t LogReader::next_alone(std::span<LoggedEvent> events, Communicator& ranks) {
  std::int64_t read = 0;
  distributed::agree(ranks, [&] {
    if (block_.size() > 0) lines_->skip_to(block_.begin());
    const std::int64_t most = std::max<std::int64_t>(block_.size(), 1);
    while (read < most && next(events[static_cast<std::size_t>(read)])) ++read;
  });
  return read;
}

void LogReader::take_block(std::int64_t most) {
  block_.clear(lines_ ? lines_->position() : LinePosition{});
  if (!lines_ || events_of_file_ == 0) return;
  for (std::string_view line; block_.size() < most && block_.bytes() < most_bytes && lines_->next(line);)
    block_.add(line, lines_->position());
}

void LogReader::read_part(const Communicator& ranks) {
  const std::int64_t known = arms_.size();
  const PartRange own = distributed::parts_of(ranks, block_.size());
  bool whole = true;
  part_.clear();
  for (std::int64_t i = own.first; whole && i < own.end; ++i) {
    LineVerdict verdict;
    try {
      verdict = format_->read(block_.line(i), arms_, event_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      whole = false;
    }
    if (verdict.kind == Kind::bad && what_of_bad_lines_ == BadLines::stop) whole = false;
    distributed::write_numbers(std::span(&verdict.kind, 1), part_);
    if (verdict.kind == Kind::event) write_event(event_, part_);
    if (verdict.kind == Kind::bad) distributed::write_list(verdict.reason, part_);
  }
  // A new arm has the number that it has after all lines before: this rank has not read them.
  whole = whole && arms_.size() == known;
  arms_.shrink(known);
  const Head head{
      .lines = static_cast<std::uint64_t>(block_.size()), .begin = block_.begin(), .is_whole = whole ? 1 : 0};
  message_.clear();
  distributed::write_numbers(std::span(&head, 1), message_);
  message_ += part_;
}

bool LogReader::all_parts_whole() const {
  std::string_view first = messages_.front();
  const Head expected = take_head(first);
  bool whole = true;
  for (std::string_view message : messages_) {
    const Head head = take_head(message);
    if (!head.has_lines_of(expected))  // every rank sees it
      throw distributed::AgreedError(ErrorKind::data, "ranks do not read the same lines of the log: it has changed");
    whole = whole && head.is_whole == 1;
  }
  return whole;
}

std::int64_t LogReader::join_parts(std::span<LoggedEvent> events, const Communicator& ranks) {
  std::size_t read = 0;
  std::string reason;
  for (std::size_t rank = 0; rank < messages_.size(); ++rank) {
    std::string_view message = messages_[rank];
    take_head(message);
    const PartRange part = distributed::parts_of(static_cast<std::int64_t>(rank), ranks.size(), block_.size());
    for (std::int64_t i = part.first; i < part.end; ++i) {
      Kind kind{};
      distributed::read_numbers(message, std::span(&kind, 1));
      if (kind != Kind::other) event_end_ = block_.position(i);
      if (kind == Kind::bad) {
        distributed::read_list(message, reason);
        count_bad(reason);
      }
      if (kind != Kind::event) continue;
      read_event(message, events[read++]);
    }
  }
  events_ += static_cast<std::int64_t>(read);
  events_of_file_ += static_cast<std::int64_t>(read);
  return static_cast<std::int64_t>(read);
}

void LogReader::bring_together(Communicator& ranks) {
  Snapshot own;
  format_->save(own);
  const std::vector<std::string> all = ranks.gather(distributed::to_message(own));
  for (std::size_t rank = 1; rank < all.size(); ++rank) format_->add_notes(distributed::from_message(all[rank]));
}

}  // namespace stein::replay
