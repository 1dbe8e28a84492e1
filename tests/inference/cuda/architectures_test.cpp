// Which machine code the libraries of the kernels have.
#include <stein/core/component.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "skip.h"

TEST_CASE("the kernels' libraries have code for every architecture that they were built for", "[inference][cuda]") {
  const auto [component, file_name] = GENERATE(
      table<std::string, std::string>({{"cuda", "libstein_cuda.so"}, {"agents_cuda", "libstein_agents_cuda.so"}}));
  CAPTURE(file_name);
  if (!stein::has_component(component)) stein::test::skip("built without CUDA");
  std::ifstream file(stein::component_folder() / file_name, std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  std::istringstream asked(STEIN_CUDA_ARCHITECTURES);  // "80-real 90-real 90-virtual"
  int looked_at = 0;
  for (std::string architecture; asked >> architecture;) {
    CAPTURE(architecture);
    if (architecture.find_first_of("0123456789") != 0) continue;  // "native"
    // Each kernel's machine code has the words that ptxas was told, its PTX those for another architecture to come.
    const std::string number = architecture.substr(0, architecture.find('-'));
    const std::string words = architecture.ends_with("-virtual") ? "compute_" + number : "-arch sm_" + number;
    CHECK((code.find(words) != std::string::npos));
    ++looked_at;
  }
  CHECK((looked_at > 0 || std::string(STEIN_CUDA_ARCHITECTURES).find_first_of("0123456789") != 0));
}
