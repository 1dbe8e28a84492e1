// How regressions stand in a report.
#pragma once

#include <stein/runs/run_kind.h>

namespace stein::supervised {

/// Tables of RMSE and log-likelihood, curves over epochs and over samples, how often intervals hold what they should,
/// predictions against targets, and where a table has one column of numbers the band of its predictions.
runs::ReportLayout regression_report();

}  // namespace stein::supervised
