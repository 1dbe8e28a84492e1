// What `stein env NAME --actions FILE` prints: a control task from one state on, step by step.
#pragma once

#include <stein/envs/single_environment.h>

#include <filesystem>
#include <string>
#include <vector>

namespace stein::cli {

/// An action and the line of the file that it stands in.
struct ActionLine {
  std::int64_t line;
  std::vector<double> numbers;
};

/// Numbers separated by commas or blanks. Throws Error(usage) that begins with `source` and names what is no number.
std::vector<double> parse_numbers(const std::string& text, const std::string& source);

/// One action a line; `#` starts a comment, and lines without numbers are left out.
/// @throws Error(data) naming file and line of what is no number, and of an action that has not one for each of
/// `actions`
std::vector<ActionLine> read_actions(const std::filesystem::path& path, const std::vector<envs::Quantity>& actions);

enum class TraceForm { text, json };

/// Prints every transition on standard output as it is made.
/// @throws Error(usage) after the last one if the episode ends before the actions do, and naming file and line of an
///         action that the task refuses (Error(data) where it is not finite)
void print_trace(envs::SingleEnvironment& environment, const std::vector<ActionLine>& actions, const std::string& file,
                 TraceForm form);

}  // namespace stein::cli
