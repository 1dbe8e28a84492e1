#include <stein/core/simd.h>
#include <stein/core/simd_target.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace stein {
namespace {

bool is_compiled(const std::string& name) {
  const std::vector<std::string> compiled = compiled_simd_targets();
  return std::ranges::find(compiled, name) != compiled.end();
}

TEST_CASE("the SIMD target of this machine is one of the compiled ones", "[core][simd_target]") {
  CHECK(is_compiled(simd_target()));
}

#ifdef __x86_64__
TEST_CASE("a processor with AVX2 or AVX-512 runs kernels that use it", "[core][simd_target]") {
  const std::string target = simd_target();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    CHECK_FALSE((target == "AVX2" || target == compiled_simd_targets().back()));
    CHECK(is_compiled("AVX3"));
    CHECK(is_compiled("AVX2"));
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    CHECK(target == "AVX2");
  } else {
    CHECK(target == compiled_simd_targets().back());
  }
}
#endif

}  // namespace
}  // namespace stein
