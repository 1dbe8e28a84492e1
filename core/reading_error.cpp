#include <stein/core/error.h>
#include <stein/core/reading_error.h>

#include <cerrno>
#include <cstring>

namespace stein {

void fail_reading(const std::filesystem::path& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) fail(ErrorKind::data, "'{}' does not exist", path.string());
  if (error_number == EISDIR) fail(ErrorKind::data, "expected a file, '{}' is a folder", path.string());
  fail(ErrorKind::io, "cannot read '{}': {}", path.string(), std::strerror(error_number));
}

}  // namespace stein
