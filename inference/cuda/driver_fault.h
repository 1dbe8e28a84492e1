// Why the GPUs of a machine cannot be used.
#pragma once

#include <fmt/format.h>
#include <string>

namespace stein::inference::cuda {

/// What a machine lacks where CUDA finds no GPU to use; versions as CUDA numbers them, 13010 for 13.1.
/// @param driver   the newest CUDA that the driver knows; 0 where there is no driver
/// @param runtime  that of this program
inline std::string driver_fault(int driver, int runtime) {
  if (driver == 0) return "no NVIDIA driver is installed";
  if (driver / 1000 < runtime / 1000)
    return fmt::format("the NVIDIA driver is for CUDA {}.{}, expected one for CUDA {} or newer", driver / 1000,
                       driver % 1000 / 10, runtime / 1000);
  return "the NVIDIA driver shows this program none (CUDA_VISIBLE_DEVICES?)";
}

}  // namespace stein::inference::cuda
