#include <stein/runs/run_cost.h>

#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <sys/resource.h>

#include <algorithm>

namespace stein::runs {

using Json = nlohmann::ordered_json;

bool RunCost::has_counts() const {
  const Json numbers = counts.flatten();
  return std::any_of(numbers.begin(), numbers.end(), [](const Json& value) { return value.is_number() && value != 0; });
}

double peak_memory_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

RunCost read_run_cost(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  try {
    RunCost cost;
    const Json json = Json::parse(read_file(path));
    if (!json.is_object()) return {};
    for (const auto& [name, value] : json.items()) {
      if (name == "wall_seconds") {
        cost.wall_seconds = value.get<double>();
      } else if (name == "peak_memory_mb") {
        cost.peak_memory_mb = value.get<double>();
      } else if (name == "ranks") {
        cost.counts_beside = value.get<std::vector<Json>>();
      } else if (name == "sharing") {
        cost.sharing = {.work_seconds = value.at("work_seconds"),
                        .exchange_seconds = value.at("exchange_seconds"),
                        .exchanges = value.at("exchanges"),
                        .bytes = value.at("bytes")};
      } else {
        cost.counts[name] = value;
      }
    }
    return cost;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void write_run_cost(const std::filesystem::path& path, const RunCost& cost) {
  Json json{{"wall_seconds", cost.wall_seconds}, {"peak_memory_mb", cost.peak_memory_mb}};
  json.update(cost.counts);
  if (!cost.counts_beside.empty()) json["ranks"] = cost.counts_beside;
  if (cost.sharing)
    json["sharing"] = {{"work_seconds", cost.sharing->work_seconds},
                       {"exchange_seconds", cost.sharing->exchange_seconds},
                       {"exchanges", cost.sharing->exchanges},
                       {"bytes", cost.sharing->bytes}};
  write_file_atomically(path, json.dump() + "\n");
}

}  // namespace stein::runs
