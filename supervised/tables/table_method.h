// How weights are found on tables where nothing else is said.
#pragma once

#include <stein/runs/option_sources.h>
#include <stein/training/epoch_options.h>
#include <stein/training/weight_method.h>

#include <string_view>

namespace stein::supervised {

/// NUTS, which comes closest to the posterior without anything being tuned (docs/results/tables.md): its intervals hold
/// what they say, those of few particles are too short where rows are few.
inline constexpr std::string_view regression_method = "nuts";
/// An ensemble: of classes it is as good as NUTS, and quicker. On small tables a chain at temperature 1 is still far
/// from the posterior when the usual epochs are over.
inline constexpr std::string_view table_class_method = "svgd";

/// Ensembles have 20 particles there and steps of 0.01; chains of trajectories (hmc, nuts) 400 of these, half of them
/// for warm-up, of at most 64 leapfrog steps, and sample the precision of the weights where their prior is Gaussian;
/// other methods keep their defaults.
/// @param sources  what a person says besides
void adapt_to_tables(training::WeightMethodOptions& method, training::EpochOptions& training,
                     const runs::OptionSources& sources);

}  // namespace stein::supervised
