// How many threads LibTorch uses for one tensor operation.
#pragma once

namespace stein::inference {

/// Threads of LibTorch's own pool, for this process; call it before the first tensor operation. The program sets 1: its
/// tasks run side by side already, and on small tensors a pool inside every task mostly waits for itself.
/// Throws Error(usage) unless count is at least 1.
void set_tensor_threads(int count);

}  // namespace stein::inference
