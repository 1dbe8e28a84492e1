// The corpus of the fuzzers, for tests that read it again.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace stein::test {

/// Inputs of the corpus of a kind of a room, by the names of their files.
inline std::map<std::string, std::string> corpus(const std::string& room, const std::string& kind) {
  std::map<std::string, std::string> inputs;
  const auto folder = std::filesystem::path(STEIN_TESTS) / "fuzz" / room / "corpus" / kind;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    inputs[entry.path().filename().string()] = text.str();
  }
  return inputs;
}

}  // namespace stein::test
