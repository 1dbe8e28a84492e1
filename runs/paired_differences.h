// How runs on the same seeds differ, pair by pair: a seed is the same environment to both, so that what it does to both
// cancels in the difference.
#pragma once

#include <stein/runs/run_record.h>

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stein::runs {

/// Two runs, and how they differ in a field of their summaries.
struct PairedDifference {
  std::string field;             ///< "regret"
  std::string first, second;     ///< labels of the runs
  std::vector<double> per_seed;  ///< first − second, [seeds]; NaN where one of them has no value
  nlohmann::ordered_json seeds;  ///< as in the summaries

  /// {field, first, second, difference, sd, interval, seeds}: `difference` is the mean over seeds, `interval` its
  /// [low, high] of 95 % by Student's t; what fewer than two seeds do not tell is null.
  nlohmann::ordered_json to_json() const;
};

/// Differences of many runs.
struct PairedDifferences {
  std::vector<PairedDifference> list;  ///< pair by pair, every field that the kind of the runs names in `paired`
  std::size_t left_out = 0;            ///< pairs beyond those asked for
};

/// The first `most` pairs, in the order of `runs`, of those that can be compared: equal in their group (see
/// `group_of`), their seeds, and in having the fields.
PairedDifferences paired_differences(const std::vector<std::reference_wrapper<const RunRecord>>& runs,
                                     std::size_t most);

}  // namespace stein::runs
