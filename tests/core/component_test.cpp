// Libraries that are loaded when they are needed.
#include <stein/core/component.h>
#include <stein/core/version.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error_matcher.h"

using namespace stein;

namespace {

/// Whether a library whose file begins so is part of this process.
bool is_mapped(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find('/' + file) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a component that Stein was built without is refused by name", "[core][component]") {
  CHECK_FALSE(has_component("chess"));
  CHECK_ERROR(load_component("chess"), usage, "built without", "stein::chess");
}

TEST_CASE("a component that cannot be loaded is named with the reason", "[core][component]") {
  const std::filesystem::path file = component_folder() / fmt::format("libstein_broken.so.{}", version());
  { std::ofstream(file) << "no library"; }
  const bool there = has_component("broken");
  test::check_error([] { load_component("broken"); }, ErrorKind::io, {"cannot load", file.filename().string()});
  std::filesystem::remove(file);
  CHECK(there);
}

TEST_CASE("files that come with Stein lie in share beside the folder of its libraries", "[core][component]") {
  CHECK(share_folder("report") == component_folder().parent_path() / "share/stein/report");
}

TEST_CASE("a component that is loaded already stays as it is", "[core][component]") {
  CHECK(has_component("core"));
  CHECK_NOTHROW(load_component("core"));
}

TEST_CASE("a component and what it links are part of the process from its first loading on",
          "[core][component][torch]") {
  REQUIRE(has_component("torch"));
  CHECK_FALSE(is_mapped("libstein_torch"));
  CHECK_FALSE(is_mapped("libtorch_cpu"));
  load_component("torch");
  CHECK(is_mapped("libstein_torch"));
  CHECK(is_mapped("libtorch_cpu"));
  CHECK_NOTHROW(load_component("torch"));
}
