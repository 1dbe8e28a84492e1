#include <stein/core/log.h>
#include <stein/core/simd_target.h>
#include <stein/core/version.h>
#include <stein/distributed/agree.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/same_on_all_ranks.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stein::runs {
namespace {

using Facts = std::map<std::string, std::string>;

/// What makes a run what it is, by what a person calls it.
Facts facts_of(const Experiment& experiment, const Run& run, std::int64_t stop_after) {
  Facts facts{{"commit", std::string(commit())},
              {"kind of run", experiment.kind().name},
              {"--stop-after", std::to_string(stop_after)},
              {"steps that are done", std::to_string(run.steps_done())}};
  for (const Option& option : experiment.options().options()) facts["option " + option.name] = option.text();
  for (const auto& [file, sum] : run.data_checksums()) facts["checksum of " + file] = sum;
  return facts;
}

std::string value_in(const Facts& facts, const std::string& name) {
  const auto place = facts.find(name);
  return place == facts.end() ? "none" : place->second;
}

/// Throws Error(usage) with the first difference.
void check_same(const Facts& root, const Facts& other, std::size_t rank) {
  Facts all = root;
  all.insert(other.begin(), other.end());
  for (const auto& [name, value] : all)
    STEIN_CHECK(value_in(root, name) == value_in(other, name),
                "all ranks of a run need the same options, data and program, but rank {} has {} '{}', and rank 0 '{}'",
                rank, name, value_in(other, name), value_in(root, name));
}

}  // namespace

void check_same_on_all(distributed::Communicator& ranks, const Experiment& experiment, const Run& run,
                       std::int64_t stop_after) {
  if (ranks.size() == 1) return;
  const nlohmann::json own{facts_of(experiment, run, stop_after), simd_target()};
  const std::vector<std::string> all = ranks.gather(own.dump());
  distributed::agree(ranks, [&] {
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      const auto [facts, target] = nlohmann::json::parse(all[rank]).get<std::pair<Facts, std::string>>();
      check_same(own[0].get<Facts>(), facts, rank);
      if (target != simd_target())
        log_warning("rank {} runs on {} and rank 0 on {}: the last bits of numbers depend on which rank has a seed",
                    rank, target, simd_target());
    }
  });
}

}  // namespace stein::runs
