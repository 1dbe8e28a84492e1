// Scores on a GPU, registered as "cuda". Everything is put in the stream 0 of the GPU, as the memory of GPUs is.
#include <stein/agents/control/score_driver.h>
#include <stein/agents/cuda/score_kernels.h>
#include <stein/inference/cuda/call.h>

namespace stein::agents::cuda {
namespace {

using inference::cuda::check, inference::cuda::CurrentDevice;

void score_policies_on(std::int32_t index, const PolicyScoreLaunch& launch) {
  const CurrentDevice device(index);
  start_policy_scores(launch, nullptr);
  check(cudaGetLastError(), "start a kernel of scores");
}

void score_values_on(std::int32_t index, const ValueScoreLaunch& launch) {
  const CurrentDevice device(index);
  start_value_scores(launch, nullptr);
  check(cudaGetLastError(), "start a kernel of scores");
}

const ScoreDriver scores{.name = "cuda", .policies = score_policies_on, .values = score_values_on};
const bool scores_registered = score_drivers().add("cuda", &scores);

}  // namespace
}  // namespace stein::agents::cuda
