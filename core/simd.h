// Which SIMD targets Highway compiles and dispatches to: fixed-size vectors only, because tiles of registers are arrays
// of vectors, and no half-way x86 targets. Include before any Highway header.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_SSE4)
