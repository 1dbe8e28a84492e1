// Answers on a console, a line of JSON each.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace stein::training {

/// Writes them so that whoever reads has them now. Throws Error(io) where they cannot be written.
void write_lines(const std::vector<nlohmann::ordered_json>& answers, std::FILE* out);

}  // namespace stein::training
