// How predictions get better with the samples that they are averaged over.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/prediction/collector.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace stein::training {

/// The longest curves: what averages over more samples lose stands in the summary, and their curve would cost as many
/// scores as the square of the samples.
inline constexpr std::int64_t longest_curve = 200;

/// A score of averages over 1, 2, … samples, `longest_curve` at most: the first ones, the last ones, and samples at
/// equal distances. Empty where there are no several samples.
struct AverageCurves {
  std::vector<double> forward{}, backward{}, thinned{};

  /// @param curve  (Selection, the most averages) → scores
  template <class Curve>
  static AverageCurves of(const Curve& curve) {
    using inference::Selection;
    return {curve(Selection::forward, longest_curve), curve(Selection::backward, longest_curve),
            curve(Selection::thinned, longest_curve)};
  }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);
};

/// {forward, backward, thinned}: a list for each seed.
nlohmann::ordered_json curves_json(const std::vector<AverageCurves>& seeds);

}  // namespace stein::training
