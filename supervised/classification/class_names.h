// Names of classes in a checkpoint.
#pragma once

#include <stein/core/snapshot.h>

#include <string>
#include <vector>

namespace stein::supervised {

/// Stores them under "classes".
void save_class_names(const std::vector<std::string>& classes, Snapshot& snapshot);

/// What `save_class_names` stored. Throws Error(data) if it is not there or damaged.
std::vector<std::string> saved_class_names(const Snapshot& snapshot);

}  // namespace stein::supervised
