// Which of the compiled SIMD variants (AVX2, AVX-512, NEON, …) this machine runs: whole runs repeat bit for bit on one.
#pragma once

#include <string>
#include <vector>

namespace stein {

/// Highway's name of the variant that run-time dispatch picks here, for instance "AVX3" (AVX-512) or "AVX2".
std::string simd_target();

/// Names of all variants in this build, best first, whether or not this machine runs them.
std::vector<std::string> compiled_simd_targets();

}  // namespace stein
