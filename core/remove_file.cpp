#include <stein/core/error.h>
#include <stein/core/remove_file.h>

#include <system_error>

namespace stein {

void remove_file(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) fail(ErrorKind::io, "cannot remove '{}': {}", path.string(), error.message());
}

}  // namespace stein
