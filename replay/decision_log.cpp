#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/json_fault.h>

#include <simdjson.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

namespace stein::replay {
namespace {

using Head = nlohmann::ordered_json;
namespace dom = simdjson::dom;

constexpr const char* log_name = "stein-decisions";
constexpr int log_version = 1;

const bool registered =
    register_log_format<DecisionLog>("decisions", "the log of decisions that `stein bandit --log-decisions` writes");

/// `"key":[1,2],`, or nothing of an empty list.
template <class Number>
std::string list_text(const char* key, std::span<const Number> numbers) {
  return numbers.empty() ? "" : fmt::format(R"("{}":[{}],)", key, fmt::join(numbers, ","));
}

/// As text in JSON; bytes that are no UTF-8, as names in a log of others may have, become U+FFFD.
std::string json_text(const Head& json) {
  return json.dump(-1, ' ', false, Head::error_handler_t::replace);
}

/// −1, which none of them can be, for what is no whole number: 1e122 has no place in one.
std::int64_t count_in(const Head& head, const char* key) {
  const Head& value = head.at(key);
  return value.is_number_integer() ? value.get<std::int64_t>() : -1;
}

Head numbers_of(const envs::BanditSpec& spec) {
  Head list = Head::array();
  for (const envs::ContextNumber& number : spec.numbers) {
    Head& one = list.emplace_back(Head{{"column", number.column}});
    if (number.category) one["category"] = *number.category;
    one["mean"] = number.mean, one["deviation"] = number.deviation;
  }
  return list;
}

std::vector<envs::ContextNumber> numbers_in(const Head& list) {
  std::vector<envs::ContextNumber> numbers;
  for (const Head& one : list) {
    envs::ContextNumber& number = numbers.emplace_back(
        envs::ContextNumber{.column = one.at("column"), .mean = one.at("mean"), .deviation = one.at("deviation")});
    if (one.contains("category")) number.category = one["category"].get<std::string>();
  }
  return numbers;
}

envs::BanditSpec spec_of(const Head& head) {
  envs::BanditSpec spec{.name = head.at("name"),
                        .arms = count_in(head, "arms"),
                        .context_size = count_in(head, "context_size"),
                        .active_columns = count_in(head, "active_columns"),
                        .arm_features = count_in(head, "arm_features"),
                        .reward_low = head.at("reward_low"),
                        .reward_high = head.at("reward_high"),
                        .bounded = head.at("bounded"),
                        .data = head.at("data"),
                        .source = head.at("source"),
                        .arm_names = head.at("arm_names")};
  if (head.contains("numbers")) spec.numbers = numbers_in(head["numbers"]);
  if (!head.at("reward_deviation").is_null()) spec.reward_deviation = head.at("reward_deviation").get<double>();
  return spec;
}

/// Whether the bandit that a file claims to be of can be one.
bool makes_sense(const envs::BanditSpec& spec) {
  constexpr std::int64_t most = 1 << 24;
  const auto between = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high;
  };
  const auto names = std::ssize(spec.arm_names);
  const std::set<std::string_view> different(spec.arm_names.begin(), spec.arm_names.end());
  return between(spec.arms, 1, most) && between(spec.context_size, 0, most) &&
         between(spec.active_columns, 0, spec.context_size) && between(spec.arm_features, 0, most) &&
         (names == 0 || (names == spec.arms && names == std::ssize(different))) &&
         (spec.numbers.empty() || std::ssize(spec.numbers) == spec.dense_columns()) &&
         std::ranges::all_of(spec.numbers, [](const auto& number) { return number.deviation > 0; }) &&
         (spec.bounded ? spec.reward_low < spec.reward_high : spec.reward_low <= spec.reward_high) &&
         (!spec.reward_deviation || *spec.reward_deviation > 0);
}

/// Whether a number that was read as JSON has them is one of type `Number`.
template <class Number>
bool fits(double number) {
  return std::isfinite(static_cast<Number>(number));
}
template <class Number>
bool fits(std::int64_t number) {
  return std::in_range<Number>(number);
}

/// Whether a cell is that category: as text, or as a number where categories are numbers.
bool is_category(dom::element cell, std::string_view category) {
  std::string_view text;
  if (cell.get(text) == simdjson::SUCCESS) return text == category;
  double number = 0;
  const std::optional<double> of_category = number_in(category);
  return cell.get(number) == simdjson::SUCCESS && of_category == number;
}

/// Reads the numbers of an array; whether they are numbers of this kind.
template <class Number>
bool take_numbers(dom::element list, std::vector<Number>& numbers) {
  using Wide = std::conditional_t<std::is_integral_v<Number>, std::int64_t, double>;
  dom::array array;
  if (list.get(array) != simdjson::SUCCESS) return false;
  numbers.clear();
  for (const dom::element element : array) {
    Wide number{};
    if (element.get(number) != simdjson::SUCCESS || !fits<Number>(number)) return false;
    numbers.push_back(static_cast<Number>(number));
  }
  return true;
}

}  // namespace

std::string name_of_arm(std::int64_t arm, const envs::BanditSpec& spec) {
  return spec.arm_names.empty() ? fmt::format("{}", arm) : spec.arm_names[static_cast<std::size_t>(arm)];
}

std::string decision_log_head(const envs::BanditSpec& spec) {
  const Head deviation = spec.reward_deviation ? Head(*spec.reward_deviation) : Head(nullptr);
  Head head{{"log", log_name},
            {"version", log_version},
            {"name", spec.name},
            {"arms", spec.arms},
            {"context_size", spec.context_size},
            {"active_columns", spec.active_columns},
            {"arm_features", spec.arm_features},
            {"reward_low", spec.reward_low},
            {"reward_high", spec.reward_high},
            {"bounded", spec.bounded},
            {"reward_deviation", deviation},
            {"data", spec.data},
            {"source", spec.source},
            {"arm_names", spec.arm_names}};
  if (!spec.numbers.empty()) head["numbers"] = numbers_of(spec);
  return json_text(head);
}

envs::BanditSpec bandit_of_head(std::string_view head) {
  envs::BanditSpec spec;
  try {
    const Head parsed = Head::parse(head);
    if (parsed.at("log") != log_name || parsed.at("version") != log_version)
      fail(ErrorKind::data, "a log of decisions begins with its name and version {}", log_version);
    spec = spec_of(parsed);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::data, "a log of decisions begins with a line that says what bandit it is");
  }
  if (!makes_sense(spec)) fail(ErrorKind::data, "the first line of the log of decisions is of no bandit that can be");
  return spec;
}

std::string decision_line(const LoggedDecision& decision, const envs::BanditSpec& spec) {
  const envs::Context& context = decision.context;
  return fmt::format(R"({{"seed":{},"step":{},"row":{},)", decision.seed, decision.step, decision.row) +
         list_text("context", context.dense) + list_text("active", context.active) +
         list_text("present", context.present) + list_text("arm_features", context.arm_features) +
         fmt::format(R"("action":{},"arm":{},"reward":{},)", decision.action,
                     json_text(name_of_arm(decision.action, spec)), decision.reward) +
         list_text("expected_rewards", decision.expected_rewards) + list_text("propensities", decision.propensities) +
         fmt::format(R"("deterministic":{}}})", decision.deterministic);
}

/// What was parsed of a line, valid until the next is.
struct DecisionLog::Json {
  dom::parser parser;
  dom::object line, row;  ///< and its context, where that is an object

  /// Why `text` is no object, or nothing.
  std::string_view parse(std::string_view text) { return json_fault(parser.parse(text.data(), text.size()).get(line)); }
};

DecisionLog::DecisionLog(const Options& options)
    : logged_seed_(checked(options).logged_seed), json_(std::make_unique<Json>()) {}

DecisionLog::~DecisionLog() = default;

void DecisionLog::begin(std::string_view first_line) {
  spec_ = bandit_of_head(first_line);
  columns_ = envs::context_columns(spec_);
  head_ = first_line;
}

LineVerdict DecisionLog::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  const auto bad = [](std::string_view reason) { return LineVerdict::bad(reason); };
  if (const std::string_view fault = json_->parse(line); !fault.empty()) return bad(fault);
  if (json_->line["log"].error() == simdjson::SUCCESS) {
    if (line != head_) fail(ErrorKind::data, "expected the first line of the log's first file, found that of another");
    return {LineVerdict::Kind::other};
  }
  std::int64_t seed = 0;
  if (json_->line["seed"].get(seed) != simdjson::SUCCESS) return bad("no seed");
  if (logged_seed_ >= 0 && seed != logged_seed_) return {LineVerdict::Kind::other};
  if (const std::string_view reason = take_context(event); !reason.empty()) return bad(reason);
  if (const std::string_view reason = check_context(event, arms); !reason.empty()) return bad(reason);
  if (const std::string_view reason = take_present(arms, event); !reason.empty()) return bad(reason);
  if (const std::string_view reason = take_outcome(event); !reason.empty()) return bad(reason);
  const auto [last, first_of_seed] = last_steps_.try_emplace(seed, event.time);
  if (!first_of_seed && event.time <= last->second) return bad("a decision that was there already");
  last->second = event.time;
  return {};
}

LineVerdict DecisionLog::read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (const std::string_view fault = json_->parse(line); !fault.empty()) return LineVerdict::bad(fault);
  if (const std::string_view reason = take_context(event); !reason.empty())
    return LineVerdict::bad(fault_.empty() ? reason : fault_);
  if (const std::int64_t count = choices(event, arms); count > 0)  // a service is told what was expected
    envs::check_sizes(spec_, std::ssize(event.dense), std::ssize(event.active), std::ssize(event.arm_features), count);
  const std::string_view reason = take_present(arms, event);
  return reason.empty() ? LineVerdict{} : LineVerdict::bad(fault_.empty() ? reason : fault_);
}

std::string_view DecisionLog::take_context(LoggedEvent& event) {
  const dom::object line = json_->line;
  dom::element list;
  event.dense.clear(), event.active.clear(), event.arm_features.clear();
  fault_.clear();
  if (line["context"].get(json_->row) == simdjson::SUCCESS) {
    if (!take_row(event)) return "a context that is no row of the bandit's table";
  } else if (line["context"].get(list) == simdjson::SUCCESS && !take_numbers(list, event.dense)) {
    return columns_.empty() ? "a context that is no list of numbers"
                            : "a context that is neither a list of numbers nor an object of columns";
  }
  if (line["active"].get(list) == simdjson::SUCCESS && !take_numbers(list, event.active))
    return "active columns that are no whole numbers";
  if (line["arm_features"].get(list) == simdjson::SUCCESS && !take_numbers(list, event.arm_features))
    return "features of arms that are no numbers";
  for (const std::int32_t column : event.active)
    if (column < 0 || column >= spec_.context_size) return "an active column that is none of the bandit's";
  if (std::ranges::adjacent_find(event.active, std::ranges::greater_equal{}) != event.active.end())
    return "active columns that do not ascend";
  return take_choices(event);
}

bool DecisionLog::take_row(LoggedEvent& event) {
  const dom::object row = json_->row;
  const auto bad = [&](std::string fault) {
    fault_ = std::move(fault);
    return false;
  };
  if (columns_.empty())
    return bad("a context with columns by name: those of this bandit are lists of numbers, no rows of a table");
  for (const dom::key_value_pair cell : row)
    if (std::ranges::find(columns_, cell.key, &envs::ContextColumn::name) == columns_.end())
      return bad(fmt::format("the context has a column '{}' that the policy did not learn from", cell.key));
  for (const envs::ContextColumn& column : columns_) {
    const std::span numbers = std::span(spec_.numbers).subspan(column.first);
    dom::element cell;
    if (row[column.name].get(cell) != simdjson::SUCCESS)
      return bad(fmt::format("the context has no column '{}'", column.name));
    if (column.categories.empty()) {
      double value = 0;
      if (cell.get(value) != simdjson::SUCCESS || !std::isfinite(numbers.front().standard(value)))
        return bad(fmt::format("column '{}': expected a number, found {}", column.name, simdjson::minify(cell)));
      event.dense.push_back(numbers.front().standard(value));
      continue;
    }
    const auto is_it = [&](const std::string& category) { return is_category(cell, category); };
    if (std::ranges::none_of(column.categories, is_it))
      return bad(fmt::format("column '{}': {} is none of its categories ({})", column.name, simdjson::minify(cell),
                             fmt::join(column.categories, ", ")));
    for (std::size_t k = 0; k < column.categories.size(); ++k)
      event.dense.push_back(numbers[k].standard(is_it(column.categories[k]) ? 1 : 0));
  }
  return true;
}

std::string_view DecisionLog::check_context(const LoggedEvent& event, const ArmTable& arms) const {
  const std::int64_t count = choices(event, arms);
  if (std::ssize(event.dense) != spec_.dense_columns() || std::ssize(event.active) != spec_.active_columns ||
      (count > 0 && std::ssize(event.arm_features) != count * spec_.arm_features))
    return "a context of another size than the log's bandit has";
  return {};
}

std::string_view DecisionLog::take_choices(LoggedEvent& event) {
  names_.clear(), event.present.clear();
  dom::element list;
  if (json_->line["arms"].get(list) == simdjson::SUCCESS) return take_names();
  if (json_->line["present"].get(list) != simdjson::SUCCESS) return {};
  if (!take_numbers(list, event.present) || event.present.empty()) return "arms to choose from that are no numbers";
  std::vector<std::int32_t> sorted = event.present;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "an arm that is there twice";
  if (sorted.front() < 0 || sorted.back() >= spec_.arms) return "an arm that is none of the bandit's";
  return {};
}

std::string_view DecisionLog::take_names() {
  dom::array list;
  if (json_->line["arms"].get(list) != simdjson::SUCCESS || list.size() == 0) return "arms that are no list of names";
  for (const dom::element element : list) {
    std::string_view name;
    if (element.get(name) != simdjson::SUCCESS) return "arms that are no list of names";
    names_.push_back(name);
  }
  return {};
}

std::int64_t DecisionLog::choices(const LoggedEvent& event, const ArmTable& arms) const {
  if (!names_.empty()) return std::ssize(names_);
  if (!event.present.empty()) return std::ssize(event.present);
  return arms.size() > 0 && arms.size() < spec_.arms ? 0 : spec_.arms;
}

std::string_view DecisionLog::take_present(ArmTable& arms, LoggedEvent& event) {
  if (arms.size() == 0)  // the numbers in the log are those of the bandit
    for (std::int64_t arm = 0; arm < spec_.arms; ++arm) arms.number(name_of_arm(arm, spec_));
  for (const std::string_view name : names_)
    if (!spec_.arm_names.empty() && std::ranges::find(spec_.arm_names, name) == spec_.arm_names.end()) {
      fault_ = fmt::format("'{}' is none of the arms {}", name, fmt::join(spec_.arm_names, ", "));
      return "an arm that is none of the bandit's";
    }
  if (!names_.empty()) return arms.number_all(names_, event.present) ? "" : "an arm that is there twice";
  if (!event.present.empty()) return {};
  if (arms.size() < spec_.arms) return "no `arms` to choose from";  // a bandit that has more room than arms
  event.present.resize(static_cast<std::size_t>(spec_.arms));
  std::iota(event.present.begin(), event.present.end(), 0);
  return {};
}

std::string_view DecisionLog::take_outcome(LoggedEvent& event) const {
  const dom::object line = json_->line;
  if (line["action"].get(event.action) != simdjson::SUCCESS) return "no action";
  const std::int64_t place = event.place();
  if (place == event.choices()) return "the chosen arm is not among those to choose from";
  if (line["reward"].get(event.reward) != simdjson::SUCCESS || !std::isfinite(event.reward))
    return "a reward that is no number";
  if (spec_.bounded && (event.reward < spec_.reward_low || event.reward > spec_.reward_high))
    return "a reward that the bandit cannot pay";
  dom::element list;
  std::vector<double> propensities;
  if (line["propensities"].get(list) != simdjson::SUCCESS || !take_numbers(list, propensities) ||
      std::ssize(propensities) != event.choices())
    return "no propensity for every arm";
  event.propensity = propensities[static_cast<std::size_t>(place)];
  if (!(event.propensity > 0 && event.propensity <= 1)) return "a propensity that is not in (0, 1]";
  if (line["step"].get(event.time) != simdjson::SUCCESS) return "no step";
  event.weight = 1;
  return {};
}

void DecisionLog::save(Snapshot& snapshot) const {
  std::vector<std::int64_t> seeds, steps;
  for (const auto& [seed, step] : last_steps_) seeds.push_back(seed), steps.push_back(step);
  snapshot.put("seeds", seeds);
  snapshot.put("steps", steps);
}

void DecisionLog::restore(const Snapshot& snapshot) {
  const auto seeds = snapshot.get_vector<std::int64_t>("seeds"), steps = snapshot.get_vector<std::int64_t>("steps");
  if (seeds.size() != steps.size())
    fail(ErrorKind::data, "there are {} saved seeds with {} steps", seeds.size(), steps.size());
  last_steps_.clear();
  for (std::size_t k = 0; k < seeds.size(); ++k) last_steps_[seeds[k]] = steps[k];
}

bool DecisionLog::recognises(std::string_view line) {
  return line.starts_with('{') && line.find(log_name) != std::string_view::npos;
}

}  // namespace stein::replay
