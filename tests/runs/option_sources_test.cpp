#include <stein/runs/option_sources.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using runs::OptionSources;

TEST_CASE("looking ahead sees the last source that names a key", "[runs][options]") {
  const OptionSources sources{.toml = "env = \"wheel\"\nsteps = 3\n[kernel]\nbandwidth = 2.0\n",
                              .toml_name = "f.toml",
                              .settings = {{"policy", "lints"}, {"policy", "svgd"}}};
  CHECK(sources.look_ahead("env", "mushroom") == "wheel");
  CHECK(sources.look_ahead("policy", "s2vgd") == "svgd");
  CHECK(sources.look_ahead("agent", "a2c") == "a2c");
  CHECK(sources.keys() == std::set<std::string>{"env", "kernel.bandwidth", "policy", "steps"});
  CHECK(sources.mention("kernel.bandwidth"));
  CHECK_FALSE(sources.mention("seeds"));
}

TEST_CASE("a file that is no TOML is named with its line", "[runs][options]") {
  const OptionSources sources{.toml = "env = \"wheel\"\nsteps = = 3\n", .toml_name = "f.toml", .settings = {}};
  CHECK_ERROR(sources.keys(), usage, "f.toml, line 2");
}

TEST_CASE("a setting needs a key and an equals sign; its value may have others", "[runs][options]") {
  CHECK(runs::parse_setting("a=b=c") == std::pair<std::string, std::string>{"a", "b=c"});
  CHECK(runs::parse_setting("a=") == std::pair<std::string, std::string>{"a", ""});
  CHECK_ERROR(runs::parse_setting("a"), usage, "--set expects key=value, got 'a'");
  CHECK_ERROR(runs::parse_setting("=b"), usage, "key=value");
}
