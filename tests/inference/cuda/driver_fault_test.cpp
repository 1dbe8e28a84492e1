#include <stein/inference/cuda/driver_fault.h>

#include <catch2/catch.hpp>

using stein::inference::cuda::driver_fault;

TEST_CASE("what a machine lacks for a GPU is said: a driver, a newer one, or a GPU", "[inference][cuda]") {
  CHECK(driver_fault(0, 13000) == "no NVIDIA driver is installed");
  CHECK(driver_fault(12040, 13010) == "the NVIDIA driver is for CUDA 12.4, expected one for CUDA 13 or newer");
  CHECK(driver_fault(13000, 13010) == "the NVIDIA driver shows this program none (CUDA_VISIBLE_DEVICES?)");
}
