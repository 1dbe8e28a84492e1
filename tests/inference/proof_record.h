// Figures that tests have measured, for the tables of docs/inference.md (scripts/results/inference.py) and of
// docs/results/bandit_posteriors.md (scripts/results/bandit_posteriors.py).
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace stein::inference {

/// Appends a figure as a line of JSON to the file that STEIN_PROOF_RECORD names; nothing where it names none.
/// @param method  row of the table: "sgld"
/// @param column  "exact law", "linear regression", "data twice", "logistic regression", "mutants"; "conjugate"
/// @param what    what the figure is: "|z|", "error", "bias at h", "bias at h/2", the name of a mutant, or "right"; of
///                "conjugate" "sd", "bias" or "regret"
inline void record_proof(std::string_view method, std::string_view column, std::string_view what, double figure) {
  const char* path = std::getenv("STEIN_PROOF_RECORD");
  if (path == nullptr) return;
  const nlohmann::json line{{"method", method}, {"column", column}, {"what", what}, {"figure", figure}};
  std::ofstream(path, std::ios::app) << line.dump() << '\n';
}

/// |z| of a comparison with a law, recorded.
inline double recorded_z(std::string_view method, std::string_view column, double z) {
  record_proof(method, column, "|z|", std::abs(z));
  return std::abs(z);
}

}  // namespace stein::inference
