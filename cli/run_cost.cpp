#include "run_cost.h"

#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::cli {

RunCost& RunCost::operator+=(const RunCost& other) {
  wall_seconds += other.wall_seconds;
  peak_memory_mb = std::max(peak_memory_mb, other.peak_memory_mb);
  timing += other.timing;
  return *this;
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
    const auto json = nlohmann::json::parse(read_file(path));
    return {.wall_seconds = json.at("wall_seconds"),
            .peak_memory_mb = json.at("peak_memory_mb"),
            .timing = {.deciding_seconds = json.at("deciding_seconds"),
                       .learning_seconds = json.at("learning_seconds"),
                       .decisions = json.at("decisions"),
                       .updates = json.at("updates")}};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void write_run_cost(const std::filesystem::path& path, const RunCost& cost) {
  const nlohmann::ordered_json json{{"wall_seconds", cost.wall_seconds},
                                    {"peak_memory_mb", cost.peak_memory_mb},
                                    {"deciding_seconds", cost.timing.deciding_seconds},
                                    {"learning_seconds", cost.timing.learning_seconds},
                                    {"decisions", cost.timing.decisions},
                                    {"updates", cost.timing.updates}};
  write_file_atomically(path, json.dump() + "\n");
}

}  // namespace stein::cli
