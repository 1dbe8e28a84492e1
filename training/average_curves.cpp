#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/average_curves.h>

namespace stein::training {

nlohmann::ordered_json curves_json(const std::vector<AverageCurves>& seeds) {
  const auto lists = [&](const std::vector<double> AverageCurves::*which) {
    return runs::of_each(seeds,
                         [which](const AverageCurves& curves) { return runs::of_each(curves.*which, runs::rounded); });
  };
  return {{"forward", lists(&AverageCurves::forward)},
          {"backward", lists(&AverageCurves::backward)},
          {"thinned", lists(&AverageCurves::thinned)}};
}

}  // namespace stein::training
