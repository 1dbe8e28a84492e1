// How weights are found on tables where nothing else is said.
#pragma once

#include <stein/training/weight_method.h>

#include <string_view>

namespace stein::supervised {

/// An ensemble: on small tables a chain at temperature 1 is still far from the posterior when the usual epochs are
/// over, and twenty particles are near it.
inline constexpr std::string_view table_method = "svgd";

/// Ensembles have 20 particles there and steps of 0.01; other methods keep their defaults.
void adapt_to_tables(training::WeightMethodOptions& method);

}  // namespace stein::supervised
