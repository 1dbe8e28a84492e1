#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/average_curves.h>

namespace stein::training {

void AverageCurves::save(Snapshot& snapshot) const {
  snapshot.put("forward", forward);
  snapshot.put("backward", backward);
  snapshot.put("thinned", thinned);
}

void AverageCurves::restore(const Snapshot& snapshot) {
  forward = snapshot.get_vector<double>("forward");
  backward = snapshot.get_vector<double>("backward");
  thinned = snapshot.get_vector<double>("thinned");
}

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
