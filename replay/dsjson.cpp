#include <stein/core/error.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/dsjson.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/json_fault.h>
#include <stein/replay/timestamp.h>
#include <stein/replay/words.h>

#include <simdjson.h>

#include <optional>
#include <span>

namespace stein::replay {
namespace {

namespace dom = simdjson::dom;

const bool registered = register_log_format<Dsjson>(
    "dsjson", "decision-service JSON of Vowpal Wabbit: actions and their features as objects, hashed into columns");

/// Feature and namespaces of a context or an action, added to its columns. Nested no deeper than simdjson allows.
class FeatureWalk {
 public:
  FeatureWalk(std::span<float> columns, ColumnUse& use) : columns_(columns), use_(use) {}

  void add_object(dom::object object, std::uint64_t space) {
    for (const auto& [key, value] : object) {
      if (key == "_text") add_words(value, space);
      if (!key.starts_with('_')) add_value(value, hash_name(key, space));
    }
  }
  /// Whether there was nothing that features are not made of.
  bool good() const { return good_; }

 private:
  void add_value(dom::element value, std::uint64_t name) {
    switch (value.type()) {
      case dom::element_type::OBJECT: return add_object(value.get_object().value_unsafe(), name);
      case dom::element_type::ARRAY: return add_array(value.get_array().value_unsafe(), name);
      case dom::element_type::STRING: return add_text(value, name);
      case dom::element_type::BOOL: return add_hashed(name, value.get_bool().value_unsafe() ? 1 : 0, columns_, use_);
      case dom::element_type::NULL_VALUE: return;
      default: return add_hashed(name, static_cast<float>(value.get_double().value_unsafe()), columns_, use_);
    }
  }
  void add_text(dom::element text, std::uint64_t name) {
    add_hashed(hash_name(text.get_string().value_unsafe(), name), 1, columns_, use_);
  }
  void add_array(dom::array array, std::uint64_t name) {
    std::size_t place = 0;
    for (const dom::element value : array) {
      if (value.is_object())
        add_object(value.get_object().value_unsafe(), name);
      else if (value.is_string())
        add_text(value, name);
      else if (value.is_array())
        good_ = false;
      else
        add_value(value, hash_name(std::to_string(place), name));
      ++place;
    }
  }
  void add_words(dom::element value, std::uint64_t space) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) {
      good_ = false;
      return;
    }
    for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
      add_hashed(hash_name(word, space), 1, columns_, use_);
  }

  std::span<float> columns_;
  ColumnUse& use_;
  bool good_ = true;
};

/// `id` and `Action.id` as JSON pointers (RFC 6901).
std::string pointer_of(std::string_view path) {
  std::string pointer;
  if (!path.empty()) pointer = "/";
  for (const char letter : path) {
    if (letter == '.')
      pointer += '/';
    else if (letter == '~')
      pointer += "~0";
    else
      pointer += letter;
  }
  return pointer;
}

/// What stands at a key, or nothing if it is missing or of another type.
template <class Value>
std::optional<Value> value_at(dom::object object, std::string_view key) {
  Value value{};
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

/// The same of the first element of an array.
template <class Value>
std::optional<Value> first_at(dom::object object, std::string_view key) {
  Value value{};
  if (object[key].at(0).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

/// What `p` says of an action in `a`; nothing where it is not among them.
std::optional<double> probability_in(dom::object object, std::uint64_t action) {
  dom::array actions, probabilities;
  if (object["a"].get(actions) != simdjson::SUCCESS || object["p"].get(probabilities) != simdjson::SUCCESS)
    return std::nullopt;
  std::size_t place = 0;
  for (const dom::element element : actions) {
    std::uint64_t number = 0;
    double probability = 0;
    if (element.get(number) == simdjson::SUCCESS && number == action &&
        probabilities.at(place).get(probability) == simdjson::SUCCESS)
      return probability;
    ++place;
  }
  return std::nullopt;
}

bool has(dom::object object, std::string_view key) {
  return object[key].error() == simdjson::SUCCESS;
}

}  // namespace

/// An action as simdjson has it: no header names simdjson's types.
struct Dsjson::Action {
  dom::element element;
};

/// What was parsed of a line, valid until the next is.
struct Dsjson::Json {
  dom::parser parser;
  dom::object line, context;
  dom::array actions;

  /// Why `text` is no object, or nothing.
  std::string_view parse(std::string_view text) { return json_fault(parser.parse(text.data(), text.size()).get(line)); }
  /// Why there are no actions in the context, or nothing.
  std::string_view find_actions() {
    if (context["_multi"].get(actions) != simdjson::SUCCESS) return "a context without actions";
    if (has(context, "_slots") || has(line, "_outcomes")) return "a decision for several slots";
    return {};
  }
};

Dsjson::Dsjson(const Options& options)
    : VwLog("dsjson", "decision-service JSON of Vowpal Wabbit", options),
      json_(std::make_unique<Json>()),
      arm_pointer_(pointer_of(options.arm_id)) {}

Dsjson::~Dsjson() = default;

void Dsjson::save(Snapshot& snapshot) const {
  VwLog::save(snapshot);
  recent_.save(snapshot);
}

void Dsjson::restore(const Snapshot& snapshot) {
  VwLog::restore(snapshot);
  recent_.restore(snapshot);
}

void Dsjson::begin(std::string_view first_line) {
  if (DecisionLog::recognises(first_line)) fail(ErrorKind::data, "expected decision-service JSON");
}

LineVerdict Dsjson::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  const auto bad = [](std::string_view reason) { return LineVerdict::bad(reason); };
  if (line.empty()) return {LineVerdict::Kind::other};
  if (const std::string_view reason = json_->parse(line); !reason.empty()) return bad(reason);
  const dom::object object = json_->line;
  if (value_at<bool>(object, "_skipLearn").value_or(false) || !has(object, "c") || !has(object, "_label_cost") ||
      !first_at<dom::element>(object, "a"))
    return {LineVerdict::Kind::other};
  if (object["c"].get(json_->context) != simdjson::SUCCESS) return bad("a context that is no object");
  const auto id = value_at<std::string_view>(object, "EventId").value_or("");
  if (!id.empty() && recent_.contains(id)) return bad("an event that was there already");
  if (const std::string_view reason = json_->find_actions(); !reason.empty()) return bad(reason);
  if (const std::string_view reason = take_label(event); !reason.empty()) return bad(reason);
  if (const std::string_view reason = take_time_and_weight(event); !reason.empty()) return bad(reason);
  if (const std::string_view reason = take_features(arms, event); !reason.empty()) return bad(reason);
  event.action = event.present[chosen_];
  if (!id.empty()) recent_.add(id);
  return {};
}

LineVerdict Dsjson::read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (line.empty()) return {LineVerdict::Kind::other};
  if (const std::string_view reason = json_->parse(line); !reason.empty()) return LineVerdict::bad(reason);
  json_->context = json_->line;
  if (!has(json_->line, "_multi") && json_->line["c"].get(json_->context) != simdjson::SUCCESS)
    return LineVerdict::bad("no context");
  if (const std::string_view reason = json_->find_actions(); !reason.empty()) return LineVerdict::bad(reason);
  if (const std::string_view reason = take_features(arms, event); !reason.empty()) return LineVerdict::bad(reason);
  return {};
}

std::string_view Dsjson::take_label(LoggedEvent& event) {
  const dom::object object = json_->line;
  const std::optional<double> cost = value_at<double>(object, "_label_cost");
  if (!cost) return "a cost that is no number";
  if (const std::string_view reason = take_choice(); !reason.empty()) return reason;
  const std::optional<double> probability = has(object, "_label_probability")
                                                ? value_at<double>(object, "_label_probability")
                                                : probability_in(object, chosen_ + 1);
  if (!probability) return "a probability that is no number";
  return take_outcome({.cost = *cost, .probability = *probability}, event);
}

std::string_view Dsjson::take_choice() {
  const auto index = value_at<std::uint64_t>(json_->line, "_labelIndex");  // counted from 0, all others from 1
  auto action = value_at<std::uint64_t>(json_->line, "_label_Action");
  if (index && action && *action != *index + 1) return "two labels that name different actions";
  if (!index && !action) action = first_at<std::uint64_t>(json_->line, "a");
  const std::uint64_t place = index ? *index : action.value_or(0) - 1;
  if (place >= json_->actions.size()) return "the chosen action is not among those to choose from";
  chosen_ = static_cast<std::size_t>(place);
  return {};
}

std::string_view Dsjson::take_time_and_weight(LoggedEvent& event) const {
  const dom::object object = json_->line;
  event.time = 0;
  if (const auto text = value_at<std::string_view>(object, "Timestamp")) {
    const std::optional<std::int64_t> time = read_timestamp(*text);
    if (!time) return "no timestamp";
    event.time = *time;
  }
  event.weight = 1;
  if (has(object, "pdrop")) {
    const double dropped = value_at<double>(object, "pdrop").value_or(-1);
    if (!(dropped >= 0 && dropped < 1)) return "a `pdrop` that is not in [0, 1)";
    event.weight = 1 / (1 - dropped);
  }
  return {};
}

std::string_view Dsjson::take_features(ArmTable& arms, LoggedEvent& event) {
  const std::size_t count = json_->actions.size();
  if (static_cast<std::int64_t>(count) > arms.most()) return "more actions than the option `arms` allows";
  event.dense.assign(static_cast<std::size_t>(spec_.context_size), 0);
  FeatureWalk shared(event.dense, shared_use_);
  shared.add_object(json_->context, 0);
  if (!shared.good()) return "an array in an array, or a text that is none";
  event.arm_features.assign(count * static_cast<std::size_t>(spec_.arm_features), 0);
  names_.clear(), numbers_.resize(count);
  for (const dom::element action : json_->actions)
    if (const std::string_view reason = take_action({action}, event); !reason.empty()) return reason;
  return is_finite(event) ? take_arms(names_, arms, event) : "a feature that is not finite";
}

std::string_view Dsjson::take_action(const Action& action, LoggedEvent& event) {
  dom::object features;
  if (action.element.get(features) != simdjson::SUCCESS) return "an action that is no object";
  const std::size_t place = names_.size(), width = static_cast<std::size_t>(spec_.arm_features);
  FeatureWalk walk(std::span(event.arm_features).subspan(place * width, width), action_use_);
  walk.add_object(features, 0);
  if (!walk.good()) return "an array in an array, or a text that is none";
  if (arm_pointer_.empty()) {
    names_.push_back(name_of_place(place));
    return {};
  }
  const auto named = features.at_pointer(arm_pointer_);
  std::string_view name;
  if (std::int64_t number = 0; named.get(number) == simdjson::SUCCESS)
    name = numbers_[place] = std::to_string(number);
  else if (named.get(name) != simdjson::SUCCESS)
    return "an action without its `arm_id`";
  names_.push_back(name);
  return {};
}

bool Dsjson::recognises(std::string_view line) {
  return line.starts_with('{') &&
         (line.find("\"c\":") != std::string_view::npos || line.find("\"EventId\":") != std::string_view::npos ||
          line.find("\"_label_cost\":") != std::string_view::npos);
}

}  // namespace stein::replay
