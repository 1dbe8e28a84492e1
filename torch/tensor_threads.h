// How many threads LibTorch uses for one tensor operation.
#pragma once

namespace stein::inference {

/// Threads of LibTorch's own pool, for this process; call it before the first tensor operation. `arithmetic=reference`
/// and benchmarks set 1: their tasks run side by side already, and on small tensors a pool inside every task mostly
/// waits for itself. For a ModuleModel the number stays LibTorch's own.
/// Throws Error(usage) unless count is at least 1.
void set_tensor_threads(int count);

}  // namespace stein::inference
