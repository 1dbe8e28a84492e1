// Libraries of Stein that a program loads only when it needs them.
#pragma once

#include <filesystem>
#include <string_view>

namespace stein {

/// The folder of this library, where all of Stein's libraries lie.
std::filesystem::path component_folder();

/// Whether libstein_<name> of this version lies in the folder of this library.
bool has_component(std::string_view name);

/// Loads libstein_<name> from the folder of this library, with everything that it registers; does nothing where it is
/// loaded already. It stays loaded until the program ends. Throws Error(usage) where Stein was built without it,
/// Error(io) with the system's reason where it cannot be loaded.
void load_component(std::string_view name);

}  // namespace stein
