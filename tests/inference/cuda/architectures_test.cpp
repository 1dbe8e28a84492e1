// Which machine code the library of the kernels has.
#include <stein/core/component.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "skip.h"

TEST_CASE("the kernels' library has machine code for every architecture that it was built for", "[inference][cuda]") {
  if (!stein::has_component("cuda")) stein::test::skip("built without CUDA");
  std::ifstream file(stein::component_folder() / "libstein_cuda.so", std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  std::istringstream asked(STEIN_CUDA_ARCHITECTURES);  // "80-real 90-real 90-virtual"
  int looked_at = 0;
  for (std::string architecture; asked >> architecture;) {
    CAPTURE(architecture);
    if (architecture.ends_with("-virtual") || architecture.find_first_of("0123456789") != 0) continue;  // or "native"
    // Each kernel's code has the words that ptxas was told.
    CHECK(code.find("-arch sm_" + architecture.substr(0, architecture.find('-'))) != std::string::npos);
    ++looked_at;
  }
  CHECK((looked_at > 0 || std::string(STEIN_CUDA_ARCHITECTURES).find_first_of("0123456789") != 0));
}
