// Where Stein's libraries and files lie, and libraries that a program loads only when it needs them.
#pragma once

#include <filesystem>
#include <string_view>

namespace stein {

/// The folder of this library, where all of Stein's libraries lie.
std::filesystem::path component_folder();

/// share/stein/<name> beside the folder of the libraries, in the build and where Stein is installed: files that come
/// with Stein. Whether it exists is not looked at.
std::filesystem::path share_folder(std::string_view name);

/// Whether libstein_<name> of this version lies in the folder of this library.
bool has_component(std::string_view name);

/// Loads libstein_<name> from the folder of this library, with everything that it registers; does nothing where it is
/// loaded already. It stays loaded until the program ends. Throws Error(usage) where Stein was built without it,
/// Error(io) with the system's reason where it cannot be loaded.
void load_component(std::string_view name);

}  // namespace stein
