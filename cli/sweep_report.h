// What a sweep leaves for a person: one table, one report page.
#pragma once

#include <stein/runs/sweep.h>

#include "command.h"

namespace stein::cli {

/// Runs what is left of the sweep; at its end prints a table of all runs, or their summaries as JSON, and writes
/// report.html beside them. Returns the exit code of the program.
int advance_sweep(const runs::Sweep& sweep, const runs::SessionOptions& options, const CommonOptions& common);

}  // namespace stein::cli
