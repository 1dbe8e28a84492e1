// stein ranks: where the ranks of a launcher run, and what messages between them cost.
#include <stein/core/parallel.h>
#include <stein/core/simd_target.h>
#include <stein/distributed/message_times.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string machine() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Json places(distributed::Communicator& ranks) {
  const Json own{{"rank", ranks.rank()},
                 {"machine", machine()},
                 {"rank_on_machine", ranks.rank_on_machine()},
                 {"threads", thread_count()},
                 {"simd_target", simd_target()}};
  Json all = Json::array();
  for (const std::string& place : ranks.gather(own.dump())) all.push_back(Json::parse(place));
  return all;
}

std::string size_text(std::int64_t bytes) {
  const std::array<const char*, 3> units{"B", "KiB", "MiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

std::string text_of(const Json& found) {
  std::set<std::string> machines;
  for (const Json& place : found["ranks"]) machines.insert(place["machine"].get<std::string>());
  const std::size_t count = found["ranks"].size();
  std::string text = fmt::format("{} rank{} on {} machine{}\n", count, count == 1 ? "" : "s", machines.size(),
                                 machines.size() == 1 ? "" : "s");
  for (const Json& place : found["ranks"])
    text += fmt::format("  rank {:<4} {}, {} thread{}, {}\n", place["rank"].get<int>(),
                        place["machine"].get<std::string>(), place["threads"].get<int>(),
                        place["threads"] == 1 ? "" : "s", place["simd_target"].get<std::string>());
  if (found["messages"].empty()) return text + "no messages: mpirun -n N starts N ranks\n";
  text += fmt::format("\n  {:>10}{:>14}{:>16}\n", "each gives", "all have it", "a rank receives");
  for (const Json& each : found["messages"]) {
    const double seconds = each["seconds"], received = each["bytes"].get<double>() * static_cast<double>(count - 1);
    text += fmt::format("  {:>10}{:>11.4g} µs{:>11.3g} MB/s\n", size_text(each["bytes"]), 1e6 * seconds,
                        received / seconds / 1e6);
  }
  return text;
}

}  // namespace

Action ranks_command(CLI::App& command, const Ranks& ranks) {
  const auto common = std::make_shared<CommonOptions>();
  common->add_json(command);
  return [common, ranks] {
    Json found{{"ranks", places(*ranks)}, {"messages", Json::array()}};
    if (ranks->size() > 1)
      for (const distributed::MessageTime& time : distributed::measure_messages(*ranks))
        found["messages"].push_back({{"bytes", time.bytes}, {"seconds", time.seconds}});
    if (ranks->is_root()) std::fputs((common->json ? found.dump(2) + "\n" : text_of(found)).c_str(), stdout);
    return 0;
  };
}

}  // namespace stein::cli
