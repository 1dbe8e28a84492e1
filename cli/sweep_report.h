// What a sweep leaves for a person: one table, one report page.
#pragma once

#include <stein/runs/run_record.h>
#include <stein/runs/sweep.h>

#include <string>
#include <vector>

#include "command.h"

namespace stein::cli {

/// The runs that have begun, called by their settings, with a result or without. Throws Error(data) where none has.
std::vector<runs::RunRecord> runs_so_far(const runs::Sweep& sweep);

/// One table of these runs of the sweep, which have results, a line a run, called by its settings; below it the pairs
/// of runs, where their kind compares some.
std::string table_of_sweep(const runs::Sweep& sweep, const std::vector<runs::RunRecord>& records);

/// Runs what is left of the sweep; at its end prints a table of all runs, or their summaries as JSON, and writes
/// report.html beside them. Returns the exit code of the program: 4 if a run diverged.
int advance_sweep(const runs::Sweep& sweep, const runs::SessionOptions& options, const CommonOptions& common);

}  // namespace stein::cli
