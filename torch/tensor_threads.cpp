#include <ATen/Parallel.h>
#include <stein/core/error.h>
#include <stein/torch/tensor_threads.h>

namespace stein::inference {

void set_tensor_threads(int count) {
  STEIN_CHECK(count >= 1, "LibTorch needs at least 1 thread, got {}", count);
  at::set_num_threads(count);
}

}  // namespace stein::inference
