// Options that name one thing, where several were given as if to compare them.
#pragma once

#include <stein/runs/option_sources.h>

#include <string>
#include <string_view>

namespace stein::runs {

/// `sources.look_ahead(key, otherwise)` of an option that names an agent, an environment, ….
/// Throws Error(usage) that points to --sweep where there are several names with commas between, and what `look_ahead`
/// throws.
std::string look_ahead_single(const OptionSources& sources, std::string_view key, std::string otherwise);

}  // namespace stein::runs
