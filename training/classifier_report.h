// How classifiers stand in a report.
#pragma once

#include <stein/runs/run_kind.h>

namespace stein::training {

/// Tables of errors, curves over epochs and over samples, how probabilities fit what happened, and the rows on which
/// the samples disagree most.
runs::ReportLayout classifier_report();

}  // namespace stein::training
