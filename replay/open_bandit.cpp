#include <stein/core/error.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/open_bandit.h>
#include <stein/replay/timestamp.h>
#include <stein/replay/words.h>

#include <algorithm>
#include <cmath>

namespace stein::replay {
namespace {

const bool registered = register_log_format<OpenBandit>(
    "open-bandit", "Open Bandit Dataset: three positions of a page, categories of the user, affinities to all items");

constexpr std::size_t most_columns = 65'536;
constexpr std::string_view user_feature = "user_feature_", affinity = "user-item_affinity_";

}  // namespace

OpenBandit::OpenBandit(const Options& options)
    : options_(checked(options)),
      spec_{.name = "open-bandit",
            .reward_low = 0,
            .reward_high = 1,
            .bounded = true,
            .data = "real",
            .source = "Open Bandit Dataset (Saito et al. 2020)"},
      rows_(most_columns) {
  if (!options_.item_context.empty()) item_features_ = ItemFeatures(options_.item_context, options_.buckets);
}

OpenBandit::Columns OpenBandit::read_header(std::string_view line) {
  constexpr std::string_view expected =
      "expected a header with timestamp, item_id, position, click, propensity_score and user-item_affinity_<item>";
  constexpr std::size_t shown = 120;
  if (!rows_.read_header(line))
    fail(ErrorKind::data, "{} in at most {} columns, found '{}'", expected, most_columns, line.substr(0, shown));
  const std::vector<std::string>& names = rows_.columns();
  Columns columns{.count = names.size()};
  const auto find = [&](std::string_view name) {
    if (const auto column = rows_.find(name)) return *column;
    fail(ErrorKind::data, "{}; there is no {} in '{}'", expected, name, line.substr(0, shown));
  };
  columns.time = find("timestamp"), columns.item = find("item_id"), columns.position = find("position");
  columns.click = find("click"), columns.propensity = find("propensity_score");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].starts_with(user_feature)) columns.user_features.push_back(i);
    if (!names[i].starts_with(affinity)) continue;
    columns.affinities.push_back(i);
    columns.items.push_back(names[i].substr(affinity.size()));
  }
  if (columns.items.empty())
    fail(ErrorKind::data, "{}; there is no {}<item> in '{}'", expected, affinity, line.substr(0, shown));
  return columns;
}

void OpenBandit::begin(std::string_view first_line) {
  columns_ = read_header(first_line);
  for (std::size_t i = 0; i < columns_.items.size(); ++i)
    if (!places_.emplace(columns_.items[i], i).second)
      fail(ErrorKind::data, "the header has {}{} twice", affinity, columns_.items[i]);
  names_.assign(columns_.items.begin(), columns_.items.end());
  check_items();
  for (const std::string& item : columns_.items) {
    arm_features_.push_back(0);
    if (item_features_.size() == 0) continue;
    const std::vector<float>& own = item_features_.items().at(item);
    arm_features_.insert(arm_features_.end(), own.begin(), own.end());
  }
  spec_.arms = std::ssize(columns_.items);
  spec_.arm_names = columns_.items;
  spec_.context_size = positions + std::ssize(columns_.user_features) * options_.buckets;
  spec_.arm_features = 1 + item_features_.size();
}

void OpenBandit::check_items() const {
  if (options_.item_context.empty()) return;
  for (const std::string& item : columns_.items)
    if (!item_features_.items().contains(item))
      fail(ErrorKind::data, "the header has the item '{}', which is not in '{}'", item, options_.item_context);
  for (const auto& [item, features] : item_features_.items())
    if (!places_.contains(item))
      fail(ErrorKind::data, "'{}' has the item '{}', of which the header has no affinity", options_.item_context, item);
}

LineVerdict OpenBandit::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (header_is_next_) {
    header_is_next_ = false;
    if (read_header(line) != columns_)
      fail(ErrorKind::data, "expected the header of the log's first file, with {} columns and {} items, found another",
           columns_.count, columns_.items.size());
    return {LineVerdict::Kind::other};
  }
  if (const std::string_view reason = rows_.read_row(line); !reason.empty()) return LineVerdict::bad(reason);
  if (const std::string_view reason = take_outcome(event); !reason.empty()) return LineVerdict::bad(reason);
  if (const std::string_view reason = take_context(event); !reason.empty()) return LineVerdict::bad(reason);
  const auto shown = places_.find(std::string(rows_.fields()[columns_.item]));
  if (shown == places_.end()) return LineVerdict::bad("an item that the header does not have");
  arms.number_all(names_, event.present);
  event.action = event.present[shown->second];
  return {};
}

std::string_view OpenBandit::take_outcome(LoggedEvent& event) const {
  const CsvLine& fields = rows_.fields();
  const std::optional<std::int64_t> time = read_timestamp(fields[columns_.time]);
  if (!time) return "no timestamp";
  event.time = *time;
  const std::string_view click = fields[columns_.click];
  if (click != "0" && click != "1") return "the click is neither 0 nor 1";
  event.reward = click == "1" ? 1 : 0;
  if (!read_number(fields[columns_.propensity], event.propensity) || !(event.propensity > 0 && event.propensity <= 1))
    return "a propensity that is not in (0, 1]";
  event.weight = 1;
  return {};
}

std::string_view OpenBandit::take_context(LoggedEvent& event) const {
  const CsvLine& fields = rows_.fields();
  event.dense.assign(static_cast<std::size_t>(spec_.context_size), 0);
  std::int64_t position = 0;
  if (!read_number(fields[columns_.position], position) || position < 1 || position > positions)
    return "a position that is none of 1 to 3";
  event.dense[static_cast<std::size_t>(position - 1)] = 1;
  const auto buckets = static_cast<std::size_t>(options_.buckets);
  std::size_t block = positions;
  for (const std::size_t column : columns_.user_features) {
    event.dense[block + bucket_of(hash_name(fields[column]), buckets)] = 1;
    block += buckets;
  }
  event.arm_features = arm_features_;
  const auto features = static_cast<std::size_t>(spec_.arm_features);
  for (std::size_t i = 0; i < columns_.affinities.size(); ++i) {
    float& value = event.arm_features[i * features];
    if (!read_number(fields[columns_.affinities[i]], value) || !std::isfinite(value))
      return "an affinity that is no number";
  }
  return {};
}

bool OpenBandit::recognises(std::string_view line) {
  return line.find("item_id") != std::string_view::npos && line.find("propensity_score") != std::string_view::npos &&
         line.find(affinity) != std::string_view::npos;
}

}  // namespace stein::replay
