// Runs Python for tests that compare with a reference implementation in Python.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "skip.h"

namespace stein::test {

/// A Python that can import `modules` (comma-separated): $STEIN_TEST_PYTHON, else the one that scripts/setup made in
/// .deps. Without one the case is skipped.
inline std::string python_with(const std::string& modules) {
  const char* chosen = std::getenv("STEIN_TEST_PYTHON");
  const std::string source_tree = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().string();
  const std::string python = chosen != nullptr ? chosen : source_tree + "/.deps/python/bin/python";
  const std::string probe = "'" + python + "' -c 'import " + modules + "' >/dev/null 2>&1";
  if (std::system(probe.c_str()) != 0) skip("no Python with " + modules);
  return python;
}

/// Writes `program` to `script` and runs it; true if it ends with 0. What it prints goes to the test's own output.
inline bool run_python(const std::string& python, const std::filesystem::path& script, const std::string& program) {
  std::ofstream(script) << program;
  return std::system(("'" + python + "' '" + script.string() + "' 1>&2").c_str()) == 0;
}

}  // namespace stein::test
