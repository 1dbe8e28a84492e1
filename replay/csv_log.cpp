#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/replay/csv_log.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/open_bandit.h>
#include <stein/replay/timestamp.h>
#include <stein/replay/words.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stein::replay {
namespace {

const bool registered = register_log_format<CsvLog>(
    "csv", "a table of one's own: a header, then a decision a line, with columns for arm, reward, propensity, context");

constexpr std::size_t most_columns = 65'536;
constexpr std::size_t shown = 300;

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

/// Whether `word` is a number that a float can hold.
bool read_float(std::string_view word, float& number) {
  double wide = 0;
  if (!read_number(word, wide) || !(std::abs(wide) <= std::numeric_limits<float>::max())) return false;
  number = static_cast<float>(wide);
  return true;
}

/// Whole seconds since 1970.
std::optional<std::int64_t> read_time(std::string_view word) {
  constexpr double most = 9e15;
  double seconds = 0;
  if (read_number(word, seconds))
    return std::abs(seconds) <= most ? std::optional(static_cast<std::int64_t>(std::floor(seconds))) : std::nullopt;
  return read_timestamp(word);
}

}  // namespace

CsvLog::CsvLog(const Options& options)
    : options_(checked(options)),
      spec_{.name = "csv",
            .arms = std::ssize(options_.arm_names),
            .reward_low = options_.reward_low,
            .reward_high = options_.reward_high,
            .bounded = true,
            .data = "real",
            .source = "comma-separated values",
            .arm_names = options_.arm_names},
      rows_(most_columns) {
  STEIN_CHECK(options_.reward_low < options_.reward_high, "reward_low = {} is not below reward_high = {}",
              options_.reward_low, options_.reward_high);
  STEIN_CHECK(!options_.arm.empty() && !options_.reward.empty(), "the options `arm` and `reward` each name a column");
  std::vector<std::string> named = options_.categories;
  for (const std::string& name : {options_.arm, options_.reward, options_.propensity, options_.time, options_.id})
    if (!name.empty()) named.push_back(name);
  named = sorted(std::move(named));
  if (const auto twice = std::ranges::adjacent_find(named); twice != named.end())
    fail(ErrorKind::usage,
         "the column '{}' is named twice in `arm`, `reward`, `propensity`, `time`, `id` and `categories`", *twice);
  name_arms();
}

void CsvLog::name_arms() {
  for (const std::string& name : options_.arm_names) {
    STEIN_CHECK(places_.emplace(name, arm_names_.size()).second, "option 'arm_names' names '{}' twice", name);
    arm_names_.push_back(name);
  }
}

void CsvLog::know_arms(const std::vector<std::string>& names) {
  if (!arm_names_.empty()) return;
  options_.arm_names = spec_.arm_names = names;
  spec_.arms = std::ssize(names);
  name_arms();
}

std::vector<std::string> CsvLog::warnings() const {
  constexpr float far = 100;
  std::vector<std::string> found;
  for (const Feature& feature : columns_.context) {
    if (feature.is_category)
      found.push_back(crowd_warning(feature.use, fmt::format("the categories of '{}'", feature.name), "buckets"));
    else if (feature.largest > far)
      found.push_back(
          fmt::format("the column '{}' has numbers as large as {:.3g}: networks see them as they are, and learn "
                      "from numbers of about 1; scale it, or leave it out where it says nothing",
                      feature.name, feature.largest));
  }
  return found;
}

void CsvLog::begin(std::string_view first_line) {
  columns_ = read_header(first_line);
  first_columns_ = sorted(rows_.columns());
  spec_.context_size = width_of_context();
}

void CsvLog::begin_contexts(std::string_view first_line) {
  take_names(first_line);
  columns_ = {.context = context_columns()};
  spec_.context_size = width_of_context();
  header_ = first_line;
}

std::vector<std::string> CsvLog::context_names() const {
  std::vector<std::string> names;
  for (const Feature& feature : columns_.context) names.push_back(feature.name);
  return names;
}

std::int64_t CsvLog::width_of_context() const {
  std::int64_t width = 0;
  for (const Feature& feature : columns_.context) width += feature.is_category ? options_.buckets : 1;
  return width;
}

void CsvLog::take_names(std::string_view line) {
  if (!rows_.read_header(line) || rows_.columns().empty())
    fail(ErrorKind::data, "expected a header of at most {} comma-separated names, found '{}'", most_columns,
         line.substr(0, shown));
}

CsvLog::Columns CsvLog::read_header(std::string_view line) {
  take_names(line);
  check_header();
  const Columns columns{.arm = *rows_.find(options_.arm),
                        .reward = *rows_.find(options_.reward),
                        .propensity = options_.propensity.empty() ? std::nullopt : rows_.find(options_.propensity),
                        .time = options_.time.empty() ? std::nullopt : rows_.find(options_.time),
                        .id = options_.id.empty() ? std::nullopt : rows_.find(options_.id),
                        .context = context_columns()};
  if (!columns.propensity && arm_names_.empty())
    fail(ErrorKind::data,
         "there is no column of propensities: if arms were drawn uniformly, name all of them by the option "
         "`arm_names`, since each was chosen with probability 1 / number of arms");
  return columns;
}

std::vector<CsvLog::Feature> CsvLog::context_columns() const {
  const std::vector<std::string> others{options_.arm,  options_.reward, options_.propensity,
                                        options_.time, options_.id,     ""};
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<Feature> context;
  for (std::size_t i = 0; i < rows_.columns().size(); ++i)
    if (const std::string& name = rows_.columns()[i]; !among(others, name))
      context.push_back(
          {name, i, among(options_.categories, name),
           fmt::format("no number in the column '{}', which is none of the option `categories`", name.substr(0, shown)),
           ColumnUse(among(options_.categories, name) ? options_.buckets : 0)});
  std::ranges::sort(context, {}, &Feature::name);
  const std::vector<std::string> names = sorted(rows_.columns());
  for (std::size_t i = 1; i < names.size(); ++i)
    if (!names[i].empty() && names[i] == names[i - 1])
      fail(ErrorKind::data, "the header has the column '{}' twice", names[i]);
  return context;
}

std::string CsvLog::other_separator() const {
  if (rows_.columns().size() > 1) return "";
  const std::string& line = rows_.columns().front();
  for (const auto& [separator, name] : {std::pair{';', "semicolons"}, std::pair{'\t', "tabs"}})
    if (line.find(separator) != std::string::npos)
      return fmt::format(": it looks separated by {}, commas are expected", name);
  return "";
}

void CsvLog::check_header() const {
  const Options usual;
  if (const std::string other = other_separator(); !other.empty())
    fail(ErrorKind::data, "the header has one column, '{}'{}", rows_.columns().front().substr(0, shown), other);
  const auto near = [&](const std::string& name) { return nearest_name(name, rows_.columns()); };
  std::vector<std::string> missing;
  const auto need = [&](const std::string& name, const char* option) {
    if (rows_.find(name)) return;
    const auto meant = near(name);
    missing.push_back(
        fmt::format("'{}' (option `{}`{})", name, option, meant ? fmt::format(", did you mean '{}'?", *meant) : ""));
  };
  need(options_.arm, "arm"), need(options_.reward, "reward");
  const std::string &propensity = options_.propensity, &time = options_.time;
  // To take a log for uniform because of a misspelt name would be wrong without a sign of it.
  if (!propensity.empty() && (propensity != usual.propensity || near(propensity))) need(propensity, "propensity");
  if (!time.empty() && time != usual.time) need(time, "time");
  if (!options_.id.empty()) need(options_.id, "id");
  for (const std::string& name : options_.categories) need(name, "categories");
  if (!missing.empty())
    fail(ErrorKind::data, "the header has no column {}; its columns are {}", fmt::join(missing, ", no column "),
         fmt::format("{}", fmt::join(rows_.columns(), ", ")).substr(0, shown));
}

LineVerdict CsvLog::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (header_is_next_) {
    header_is_next_ = false;
    Columns columns = read_header(line);
    if (sorted(rows_.columns()) != first_columns_)
      fail(ErrorKind::data, "expected the columns of the log's first file in whatever order, {}; found {}",
           fmt::format("{}", fmt::join(first_columns_, ", ")).substr(0, shown), line.substr(0, shown));
    for (std::size_t k = 0; k < columns.context.size(); ++k) {  // both by name
      columns.context[k].use = std::move(columns_.context[k].use);
      columns.context[k].largest = columns_.context[k].largest;
    }
    columns_ = std::move(columns);
    return {LineVerdict::Kind::other};
  }
  if (line.empty()) return {LineVerdict::Kind::other};
  std::string_view reason = rows_.read_row(line);
  const std::string_view id = reason.empty() && columns_.id ? rows_.fields()[*columns_.id] : "";
  if (reason.empty() && columns_.id && id.empty()) reason = "no id";
  if (reason.empty() && columns_.id && recent_.contains(id)) reason = "an event that was there already";
  if (reason.empty()) reason = take_outcome(event);
  if (reason.empty()) reason = take_context(event);
  if (reason.empty()) reason = take_arm(arms, event);  // last: arms of bad lines do not count as having come
  if (!reason.empty()) return LineVerdict::bad(reason);
  if (columns_.id) recent_.add(id);
  return {};
}

void CsvLog::save(Snapshot& snapshot) const {
  if (!options_.id.empty()) recent_.save(snapshot);
  std::vector<float> largest;
  for (std::size_t k = 0; k < columns_.context.size(); ++k) {
    snapshot.put_saved(fmt::format("use{}", k), columns_.context[k].use);
    largest.push_back(columns_.context[k].largest);
  }
  snapshot.put("largest", largest);
}

void CsvLog::restore(const Snapshot& snapshot) {
  if (!options_.id.empty()) recent_.restore(snapshot);
  std::vector<float> largest(columns_.context.size());
  snapshot.get("largest", std::span(largest));
  for (std::size_t k = 0; k < largest.size(); ++k) {
    columns_.context[k].use.restore(snapshot.part(fmt::format("use{}", k)));
    columns_.context[k].largest = largest[k];
  }
}

bool CsvLog::lines_stand_alone() const {
  return !arm_names_.empty() && options_.id.empty() && options_.categories.empty();
}

void CsvLog::add_notes(const Snapshot& other) {
  std::vector<float> largest(columns_.context.size());
  other.get("largest", std::span(largest));
  for (std::size_t k = 0; k < largest.size(); ++k)
    columns_.context[k].largest = std::max(columns_.context[k].largest, largest[k]);
}

LineVerdict CsvLog::read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (line.empty() || line == header_) return {LineVerdict::Kind::other};
  std::string_view reason = rows_.read_row(line);
  if (reason.empty()) reason = take_context(event);
  if (!reason.empty()) return LineVerdict::bad(reason);
  take_present(arms, event);
  return event.present.empty() ? LineVerdict::bad("no arm is known before the first event: name them by `arm_names`")
                               : LineVerdict{};
}

std::string_view CsvLog::take_outcome(LoggedEvent& event) const {
  const CsvLine& fields = rows_.fields();
  event.time = 0;
  if (columns_.time) {
    const std::optional<std::int64_t> time = read_time(fields[*columns_.time]);
    if (!time) return "a time that is neither seconds nor a date with a time";
    event.time = *time;
  }
  if (!read_number(fields[columns_.reward], event.reward)) return "no reward";
  event.reward += 0.0;  // no negative zero
  if (!(event.reward >= options_.reward_low && event.reward <= options_.reward_high))
    return "a reward that is not between `reward_low` and `reward_high`";
  if (!columns_.propensity) {
    event.propensity = 1 / static_cast<double>(arm_names_.size());
    return {};
  }
  if (!read_number(fields[*columns_.propensity], event.propensity) || !(event.propensity > 0 && event.propensity <= 1))
    return "a propensity that is not in (0, 1]";
  return {};
}

std::string_view CsvLog::take_context(LoggedEvent& event) {
  event.dense.assign(static_cast<std::size_t>(spec_.context_size), 0);
  event.active.clear(), event.arm_features.clear();
  const auto buckets = static_cast<std::size_t>(options_.buckets);
  std::size_t block = 0;
  for (Feature& feature : columns_.context) {
    const std::string_view field = rows_.fields()[feature.column];
    if (feature.is_category) {
      const std::uint64_t category = hash_name(field);
      const std::size_t bucket = bucket_of(category, buckets);
      feature.use.note(bucket, category);
      event.dense[block + bucket] = 1;
      block += buckets;
      continue;
    }
    float& number = event.dense[block++];
    if (!read_float(field, number)) return feature.reason;
    feature.largest = std::max(feature.largest, std::abs(number));
  }
  return {};
}

std::string_view CsvLog::take_arm(ArmTable& arms, LoggedEvent& event) const {
  const std::string_view arm = rows_.fields()[columns_.arm];
  event.weight = 1;
  if (arm.empty()) return "no arm";
  if (arm_names_.empty()) {
    event.action = arms.number(arm);
    take_present(arms, event);
    return {};
  }
  const auto place = places_.find(std::string(arm));
  if (place == places_.end()) return "an arm that the option `arm_names` does not have";
  take_present(arms, event);
  event.action = event.present[place->second];
  return {};
}

void CsvLog::take_present(ArmTable& arms, LoggedEvent& event) const {
  if (!arm_names_.empty()) {
    arms.number_all(arm_names_, event.present);
    return;
  }
  event.present.resize(static_cast<std::size_t>(arms.size()));
  std::iota(event.present.begin(), event.present.end(), 0);
}

bool CsvLog::recognises(std::string_view line) {
  constexpr std::string_view no_names = "{[|";  // of JSON and of the formats of Vowpal Wabbit
  CsvRows rows(most_columns);
  if (line.find_first_of(no_names) != std::string_view::npos || !rows.read_header(line)) return false;
  const auto is_number = [](const std::string& name) {
    double number = 0;
    return read_number(std::string_view(name), number);
  };
  return rows.columns().size() >= 2 && std::ranges::none_of(rows.columns(), is_number) && !OpenBandit::recognises(line);
}

}  // namespace stein::replay
