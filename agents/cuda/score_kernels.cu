#include <stein/agents/cuda/score_body.h>
#include <stein/agents/cuda/score_kernels.h>
#include <stein/inference/cuda/launch.h>

namespace stein::agents::cuda {
namespace {

/// What `score_policies` asks for.
struct KernelsOfScores {
  GpuStream stream;

  template <class Body>
  void each(std::int64_t count, const Body& body) const {
    inference::cuda::launch(count, body, stream);
  }
};

}  // namespace

void start_policy_scores(const PolicyScoreLaunch& launch, GpuStream stream) {
  KernelsOfScores work{stream};
  score_policies(launch, work);
}

void start_value_scores(const ValueScoreLaunch& launch, GpuStream stream) {
  inference::cuda::launch(launch.outputs.networks * launch.outputs.rows, ScoreValueRow{launch}, stream);
}

}  // namespace stein::agents::cuda
