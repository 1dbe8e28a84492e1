#include <stein/core/simd.h>
#include <stein/core/simd_target.h>

#include <hwy/targets.h>

#include <bit>
#include <cstdint>

namespace stein {
namespace {

// A target is one bit; Highway orders them so that lower bits are better.
std::vector<std::string> names_of(std::uint64_t targets) {
  std::vector<std::string> names;
  for (; targets != 0; targets &= targets - 1) {
    names.emplace_back(hwy::TargetName(static_cast<std::int64_t>(targets & -targets)));
  }
  return names;
}

}  // namespace

std::string simd_target() {
  return names_of(static_cast<std::uint64_t>(hwy::SupportedTargets()) & static_cast<std::uint64_t>(HWY_TARGETS))
      .front();
}

std::vector<std::string> compiled_simd_targets() {
  return names_of(static_cast<std::uint64_t>(HWY_TARGETS));
}

}  // namespace stein
