#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/core/version.h>

#include <dlfcn.h>
#include <filesystem>
#include <mutex>

namespace stein {
namespace {

std::filesystem::path path_of(std::string_view name) {
  return component_folder() / fmt::format("libstein_{}.so.{}", name, version());
}

}  // namespace

std::filesystem::path component_folder() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&component_folder), &here) == 0) return {};
  return std::filesystem::absolute(here.dli_fname).parent_path();
}

std::filesystem::path share_folder(std::string_view name) {
  return component_folder().parent_path() / "share" / "stein" / name;
}

bool has_component(std::string_view name) {
  std::error_code ignored;
  return std::filesystem::exists(path_of(name), ignored);
}

void load_component(std::string_view name) {
  STEIN_CHECK(has_component(name), "Stein was built without its library '{}' (stein::{}), which this needs", name,
              name);
  static std::mutex one_at_a_time;  // whoever waits finds everything registered
  const std::lock_guard lock(one_at_a_time);
  if (::dlopen(path_of(name).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    fail(ErrorKind::io, "cannot load '{}': {}", path_of(name).string(), ::dlerror());
}

}  // namespace stein
