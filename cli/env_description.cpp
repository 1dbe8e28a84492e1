#include "env_description.h"

#include <stein/runs/measured.h>

#include <stein/core/error.h>
#include <stein/envs/context_columns.h>

#include <algorithm>
#include <cmath>

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<envs::Quantity>& quantities) {
  Json list = Json::array();
  for (const envs::Quantity& quantity : quantities)
    list.push_back({{"name", quantity.name},
                    {"low", runs::number(quantity.low)},
                    {"high", runs::number(quantity.high)},
                    {"unit", quantity.unit}});
  return list;
}

template <class Builder>
Json options_of(Builder& builder) {
  OptionTable table;
  builder.describe(table);
  Json list = Json::array();
  for (const Option& option : table.options())
    list.push_back({{"name", option.name},
                    {"value", option.text()},
                    {"range", option.range},
                    {"unit", option.unit},
                    {"help", option.help}});
  return list;
}

/// "any number", "-2 to 2", "at least 0".
std::string range_text(const Json& low, const Json& high) {
  if (low.is_null() && high.is_null()) return "any number";
  if (low.is_null()) return fmt::format("at most {:.6g}", high.get<double>());
  if (high.is_null()) return fmt::format("at least {:.6g}", low.get<double>());
  return low == high ? fmt::format("{:.6g}", low.get<double>())
                     : fmt::format("{:.6g} to {:.6g}", low.get<double>(), high.get<double>());
}

std::string line(const std::string& name, const std::string& value) {
  return fmt::format("  {:<14}{}\n", name, value);
}

std::string quantities_text(const std::string& heading, const Json& quantities) {
  std::size_t width = 22;
  for (const Json& quantity : quantities)
    width = std::max(width, quantity["name"].get_ref<const std::string&>().size());
  std::string text = fmt::format("\n{}\n", heading);
  for (const Json& quantity : quantities)
    text += fmt::format("  {:<{}}  {:<24}{}\n", quantity["name"].get<std::string>(), width,
                        range_text(quantity["low"], quantity["high"]), quantity["unit"].get<std::string>());
  return text;
}

std::string options_text(const Json& options) {
  if (options.empty()) return "";
  std::string text = "\noptions, for --set\n";
  for (const Json& option : options) {
    std::string limits = option["range"];
    const std::string unit = option["unit"];
    if (!unit.empty()) limits += (limits.empty() ? "" : ", ") + unit;
    const std::string setting = option["name"].get<std::string>() + "=" + option["value"].get<std::string>();
    text += fmt::format("  {:<26}{}\n      {}\n", setting, limits, option["help"].get<std::string>());
  }
  return text;
}

std::string control_text(const Json& task) {
  std::string text = line("version", std::to_string(task["version"].get<std::int64_t>()));
  const auto horizon = task["horizon"].get<std::int64_t>();
  text +=
      line("horizon", task["timed"] ? fmt::format("{} steps of {:.6g} s", horizon, task["step_seconds"].get<double>())
                                    : fmt::format("{} steps", horizon));
  if (task["ends"].is_string()) text += line("ends earlier", task["ends"]);
  text += line("reward", range_text(task["reward_low"], task["reward_high"]) + " a step");
  text += line("threshold", task["threshold"].is_null()
                                ? "none"
                                : fmt::format("{:.6g}, the mean return at which it counts as solved",
                                              task["threshold"].get<double>()));
  text += quantities_text("state", task["state"]);
  text += quantities_text("observation", task["observation"]);
  text += quantities_text(task["choices"].is_null()
                              ? "action"
                              : fmt::format("action, a choice from 0 to {}", task["choices"].get<std::int64_t>() - 1),
                          task["action"]);
  return text;
}

Json columns_of(const envs::BanditSpec& spec) {
  Json columns = Json::array();
  for (const envs::ContextColumn& column : envs::context_columns(spec)) {
    const envs::ContextNumber& number = spec.numbers[column.first];
    columns.push_back(column.categories.empty()
                          ? Json{{"name", column.name}, {"mean", number.mean}, {"deviation", number.deviation}}
                          : Json{{"name", column.name}, {"categories", column.categories}});
  }
  return columns;
}

std::string columns_text(const Json& columns) {
  if (columns.empty()) return "";
  std::size_t width = 0;
  for (const Json& column : columns) width = std::max(width, column["name"].get_ref<const std::string&>().size());
  std::string text = "\ncolumns of a row, which is the context\n";
  for (const Json& column : columns) {
    const std::string values =
        column.contains("categories")
            ? runs::few(column["categories"].get<std::vector<std::string>>())
            : fmt::format("a number, {:.4g} ± {:.4g}", column["mean"].get<double>(), column["deviation"].get<double>());
    text += fmt::format("  {:<{}}  {}\n", column["name"].get<std::string>(), width, values);
  }
  return text;
}

std::string bandit_text(const Json& bandit) {
  if (!bandit["missing"].is_null()) return line("data", "absent: " + bandit["missing"].get<std::string>());
  std::string text = line("data", bandit["data"]);
  text += line("arms", std::to_string(bandit["arms"].get<std::int64_t>()));
  const auto columns = bandit["context_size"].get<std::int64_t>(),
             active = bandit["active_columns"].get<std::int64_t>();
  text +=
      line("context", active > 0 ? fmt::format("{} columns, of which {} are one and the others zero", columns, active)
                                 : fmt::format("{} numbers", columns));
  text += line("reward", fmt::format("expected {} of an arm, sd {:.4g} of arms drawn at random",
                                     range_text(bandit["reward_low"], bandit["reward_high"]),
                                     bandit["reward_deviation"].get<double>()));
  for (const Json& arm : bandit["arm_names"]) text += line("", arm);
  return text + columns_text(bandit["columns"]);
}

}  // namespace

Json describe_control(const std::string& description, envs::ControlEntry::Builder& builder) {
  const auto environment = builder.make(1);  // which has the options at work in it
  const envs::ControlSpec& spec = environment->spec();
  return {{"name", spec.name},
          {"kind", "control"},
          {"description", description},
          {"source", spec.source},
          {"version", spec.version},
          {"state", to_json(spec.state)},
          {"observation", to_json(spec.observation)},
          {"choices", spec.discrete() ? Json(spec.choices) : Json(nullptr)},
          {"action", to_json(spec.action)},
          {"horizon", environment->horizon()},
          {"step_seconds", spec.step_seconds},
          {"timed", spec.timed},
          {"ends", spec.ends.empty() ? Json(nullptr) : Json(spec.ends)},
          {"reward_low", runs::number(spec.reward_low)},
          {"reward_high", runs::number(spec.reward_high)},
          {"threshold", runs::number(spec.threshold)},
          {"options", options_of(builder)}};
}

Json describe_bandit(const std::string& name, const std::string& description, envs::BanditEntry::Builder& builder,
                     const envs::DataSource& source) {
  Json bandit{{"name", name}, {"kind", "bandit"}, {"description", description}, {"source", nullptr}};
  for (const char* key : {"data", "arms", "arm_names", "context_size", "active_columns", "reward_low", "reward_high",
                          "reward_deviation", "columns", "missing"})
    bandit[key] = nullptr;
  try {
    const auto environment = builder.make(source);
    const envs::BanditSpec& spec = environment->spec();
    bandit["source"] = spec.source;
    bandit["data"] = spec.data;
    bandit["arms"] = spec.arms;
    bandit["arm_names"] = spec.arm_names;
    bandit["columns"] = columns_of(spec);
    bandit["context_size"] = spec.context_size;
    bandit["active_columns"] = spec.active_columns;
    bandit["reward_low"] = spec.reward_low;
    bandit["reward_high"] = spec.reward_high;
    bandit["reward_deviation"] = spec.reward_deviation.value();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::usage) throw;  // no data set, or no file named
    bandit["missing"] = error.what();
  }
  bandit["options"] = options_of(builder);
  return bandit;
}

std::string description_text(const Json& description) {
  std::string text =
      fmt::format("{}: {}\n", description["name"].get<std::string>(), description["description"].get<std::string>());
  if (description["source"].is_string()) text += line("source", description["source"]);
  text += description["kind"] == "control" ? control_text(description) : bandit_text(description);
  return text + options_text(description["options"]);
}

}  // namespace stein::cli
