// Numbers of a GPU that are sent home while the host goes on.
#pragma once

#include <stein/inference/storage/late_numbers.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace stein::inference::cuda {

/// DeviceMemory::send_home: through page-locked memory, of which as much is kept as was ever under way at once.
std::unique_ptr<LateNumbers> send_home(std::int32_t index, const double* from, std::size_t count);

}  // namespace stein::inference::cuda
