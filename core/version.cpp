#include <stein/core/version.h>

namespace stein {

std::string_view version() noexcept {
  return STEIN_VERSION;
}
std::string_view commit() noexcept {
  return STEIN_COMMIT;
}

}  // namespace stein
