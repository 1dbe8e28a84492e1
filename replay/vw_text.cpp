#include <stein/replay/feature_hash.h>
#include <stein/replay/vw_text.h>
#include <stein/replay/words.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace stein::replay {
namespace {

const bool registered = register_log_format<VwText>(
    "vw-text", "text of Vowpal Wabbit with labels of contextual bandits (cb, cb_adf), features hashed into columns");

/// A label `action`, or `action:cost:probability`.
struct Label {
  std::int64_t action = 0;
  std::optional<double> cost, probability;
};

/// The number behind a colon, 1 if there is no colon; nothing if it is no finite number. `word` is cut before it.
template <class Number>
std::optional<Number> take_number(std::string_view& word) {
  const std::size_t colon = word.find(':');
  Number number = 1;
  if (colon == std::string_view::npos) return number;
  if (!read_number(word.substr(colon + 1), number) || !std::isfinite(number)) return std::nullopt;
  word = word.substr(0, colon);
  return number;
}

/// Reads a label; false for anything else.
bool read_label(std::string_view word, Label& label) {
  label = {};
  const std::size_t first = word.find(':');
  if (!read_number(word.substr(0, first), label.action)) return false;
  if (first == std::string_view::npos) return true;
  std::string_view cost = word.substr(first + 1);
  if (cost.find(':') == std::string_view::npos) return false;
  label.probability = take_number<double>(cost);
  double number = 0;
  if (!label.probability || !read_number(cost, number) || !std::isfinite(number)) return false;
  label.cost = number;
  return true;
}

/// Adds the features behind the first bar of a line. Why they are bad, or nothing.
std::string_view add_features(std::string_view text, std::span<float> columns, ColumnUse& use) {
  while (true) {
    const std::size_t bar = text.find('|');
    std::string_view rest = text.substr(0, bar);
    std::string_view space;
    if (!rest.starts_with(' ')) space = take_word(rest);
    const std::optional<float> weight = take_number<float>(space);
    if (!weight) return "a namespace whose weight is no number";
    const std::uint64_t space_hash = hash_name(space);
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      const std::optional<float> value = take_number<float>(word);
      if (!value) return "a feature whose value is no number";
      add_hashed(hash_name(word, space_hash), *weight * *value, columns, use);
    }
    if (bar == std::string_view::npos) return {};
    text.remove_prefix(bar + 1);
  }
}

}  // namespace

VwText::VwText(const Options& options)
    : VwLog("vw-text", "text of Vowpal Wabbit with labels of contextual bandits", options), actions_(options.actions) {
  checked(options);
  if (actions_ == 0) return;
  spec_.arms = actions_;
  spec_.arm_features = 0;
}

LineVerdict VwText::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  return actions_ > 0 ? read_event(line, Wanted::decision, arms, event)
                      : read_part(line, Wanted::decision, arms, event);
}

LineVerdict VwText::read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  return actions_ > 0 ? read_event(line, Wanted::context, arms, event) : read_part(line, Wanted::context, arms, event);
}

LineVerdict VwText::finish(ArmTable& arms, LoggedEvent& event) {
  return end_event(Wanted::decision, arms, event);
}

LineVerdict VwText::finish_context(ArmTable& arms, LoggedEvent& event) {
  return end_event(Wanted::context, arms, event);
}

void VwText::restore(const Snapshot& snapshot) {
  VwLog::restore(snapshot);
  pending_ = {};
}

std::string_view VwText::split(std::string_view line, std::string_view& features) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos) return "a line without features";
  features = line.substr(bar + 1);
  std::string_view head = line.substr(0, bar);
  const bool touches = !head.empty() && head.back() != ' ';
  head_ = {};
  for (std::string_view word = take_word(head); !word.empty(); word = take_word(head)) head_.labels.push_back(word);
  if (head_.labels.empty() || (!touches && head_.labels.back().front() != '\'')) return {};
  head_.tag = head_.labels.back();
  head_.labels.pop_back();
  if (Label label;
      head_.tag == "shared" || (head_.tag.find(':') != std::string_view::npos && read_label(head_.tag, label)))
    return "no blank between a label and the bar";
  if (head_.tag.front() == '\'') head_.tag.remove_prefix(1);
  return {};
}

LineVerdict VwText::read_event(std::string_view line, Wanted wanted, ArmTable& arms, LoggedEvent& event) {
  if (line.empty()) return {LineVerdict::Kind::other};
  std::string_view features;
  if (const std::string_view reason = split(line, features); !reason.empty()) return LineVerdict::bad(reason);
  event.dense.assign(static_cast<std::size_t>(spec_.context_size), 0);
  event.arm_features.clear();
  event.time = 0, event.weight = 1;
  if (const std::string_view reason = add_features(features, event.dense, shared_use_); !reason.empty())
    return LineVerdict::bad(reason);
  if (!is_finite(event)) return LineVerdict::bad("a feature that is not finite");
  std::optional<Outcome> outcome;
  if (const std::string_view reason = take_labels(arms, event, outcome); !reason.empty())
    return LineVerdict::bad(reason);
  if (wanted == Wanted::decision && !outcome) return {LineVerdict::Kind::other};
  return {};
}

std::string_view VwText::take_labels(ArmTable& arms, LoggedEvent& event, std::optional<Outcome>& outcome) {
  names_.clear();
  std::size_t chosen = 0, place = 0;
  for (const std::string_view word : head_.labels) {
    if (word == "shared") return "a line of an event of several lines (then the option `actions` is 0)";
    Label label;
    if (!read_label(word, label)) return "a label that is not action:cost:probability";
    if (label.action < 1 || label.action > actions_) return "an action that is none of 1 to `actions`";
    place = static_cast<std::size_t>(label.action - 1);
    if (label.cost && outcome) return "two chosen actions";
    if (label.cost) {
      outcome = {.cost = *label.cost, .probability = *label.probability};
      chosen = names_.size();
    }
    names_.push_back(name_of_place(place));
  }
  if (outcome)
    if (const std::string_view reason = take_outcome(*outcome, event); !reason.empty()) return reason;
  if (names_.size() <= 1) {  // all actions could be chosen
    chosen = place;
    names_.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(actions_); ++i) names_.push_back(name_of_place(i));
  }
  if (const std::string_view reason = take_arms(names_, arms, event); !reason.empty()) return reason;
  event.action = event.present[chosen];
  return {};
}

LineVerdict VwText::read_part(std::string_view line, Wanted wanted, ArmTable& arms, LoggedEvent& event) {
  if (line.empty()) return end_event(wanted, arms, event);
  if (pending_.skipped) return {LineVerdict::Kind::other};
  const std::string_view reason = take_part(line, arms);
  if (reason.empty()) return {LineVerdict::Kind::other};
  pending_ = {.skipped = true};
  return LineVerdict::bad(reason);
}

std::string_view VwText::take_part(std::string_view line, const ArmTable& arms) {
  std::string_view features;
  if (const std::string_view reason = split(line, features); !reason.empty()) return reason;
  const bool first = !pending_.begun;
  pending_.begun = true;
  if (first) pending_.shared.assign(static_cast<std::size_t>(spec_.context_size), 0);
  const bool shared = head_.labels.size() == 1 && head_.labels.front() == "shared";
  if (!shared) return take_action(features, arms);
  return first ? add_features(features, pending_.shared, shared_use_)
               : "shared features behind the first line of an event";
}

std::string_view VwText::take_action(std::string_view features, const ArmTable& arms) {
  if (std::ssize(pending_.names) == arms.most()) return "more actions than the option `arms` allows";
  Label label;
  if (head_.labels.size() > 1 || (head_.labels.size() == 1 && !read_label(head_.labels.front(), label)))
    return "a label that is not action:cost:probability";
  if (label.cost && pending_.outcome)
    return "two chosen actions (if every line is an event, the option `actions` says how many there are)";
  if (label.cost) {
    pending_.outcome = {.cost = *label.cost, .probability = *label.probability};
    pending_.chosen = pending_.names.size();
  }
  pending_.names.emplace_back(head_.tag.empty() ? name_of_place(pending_.names.size()) : head_.tag);
  const auto width = static_cast<std::size_t>(spec_.arm_features);
  pending_.actions.resize(pending_.names.size() * width);
  return add_features(features, std::span(pending_.actions).last(width), action_use_);
}

LineVerdict VwText::end_event(Wanted wanted, ArmTable& arms, LoggedEvent& event) {
  const bool none = !pending_.begun || (wanted == Wanted::decision && !pending_.outcome && !pending_.names.empty());
  const std::optional<Outcome> outcome = pending_.outcome;
  event.dense.swap(pending_.shared);
  event.arm_features.swap(pending_.actions);
  const std::vector<std::string> names = std::move(pending_.names);
  const std::size_t chosen = pending_.chosen;
  pending_ = {};
  if (none) return {LineVerdict::Kind::other};
  event.time = 0, event.weight = 1;
  if (!is_finite(event)) return LineVerdict::bad("a feature that is not finite");
  if (outcome)
    if (const std::string_view reason = take_outcome(*outcome, event); !reason.empty()) return LineVerdict::bad(reason);
  names_.assign(names.begin(), names.end());
  if (const std::string_view reason = take_arms(names_, arms, event); !reason.empty()) return LineVerdict::bad(reason);
  event.action = event.present[chosen];
  return {};
}

bool VwText::recognises(std::string_view line) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos || line.starts_with('{')) return false;
  std::string_view head = line.substr(0, bar);
  bool cost = false;
  std::size_t words = 0;
  for (std::string_view word = take_word(head); !word.empty(); word = take_word(head), ++words) {
    if (word == "shared") return true;
    Label label;
    cost = cost || (read_label(word, label) && label.cost);
  }
  return words == 0 || cost;
}

}  // namespace stein::replay
