// `stein predict` of a bandit run.
#pragma once

#include <stein/replay/prediction.h>

#include <memory>

namespace stein::agents {

/// A seed's policy, as the newest checkpoint left it, decides in contexts of its bandit; no data set is needed.
class BanditPrediction final : public replay::Prediction {
 private:
  std::string policy_name(const runs::Experiment& experiment) const override;
  std::unique_ptr<replay::ServedPolicy> make_policy(const runs::Experiment& experiment, const Snapshot& state,
                                                    std::uint64_t seed, const RunDirectory& directory,
                                                    const std::string& data) const override;
};

}  // namespace stein::agents
