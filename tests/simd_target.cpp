// Holds a test program to the SIMD target that STEIN_TEST_SIMD_TARGET names (`baseline`: the one every machine has), so
// that one machine tests the kernels of several. Exits with 77, which CTest counts as skipped, where the machine lacks
// it.
#include <stein/core/simd.h>
#include <stein/core/simd_target.h>

#include <hwy/targets.h>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

bool hold_to_target() {
  const char* const wanted = std::getenv("STEIN_TEST_SIMD_TARGET");
  if (wanted == nullptr) return false;
  const std::string name = std::string(wanted) == "baseline" ? stein::compiled_simd_targets().back() : wanted;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (hwy::TargetName(target) != name) continue;
    hwy::SetSupportedTargetsForTest(target);
    return true;
  }
  std::fprintf(stderr, "skipped: no SIMD target %s here\n", name.c_str());
  std::exit(77);
}

const bool held = hold_to_target();

}  // namespace
