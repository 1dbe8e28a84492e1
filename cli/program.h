// The program but for `main`, so that others can link it with kinds of runs of their own.
#pragma once

#include <string>
#include <vector>

namespace stein::cli {

/// Finds the subcommand, lets it run, and turns errors into sentences on standard error.
/// @param arguments  what was typed after the program's name
/// @returns the exit code
int run_program(const std::vector<std::string>& arguments);

}  // namespace stein::cli
