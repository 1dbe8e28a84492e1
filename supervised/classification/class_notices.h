// What is said of classes before a training begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stein::supervised {

/// A sentence about the classes of which there is no row or image for training; none where all classes have some.
/// @param labels  of those for training, places in `classes`
/// @param datum   "row", "image"
std::vector<std::string> class_notices(const std::vector<std::string>& classes, std::span<const std::int64_t> labels,
                                       const char* datum);

}  // namespace stein::supervised
