#include <stein/core/error.h>

namespace stein {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::data: return 3;
    case ErrorKind::numeric: return 4;
    case ErrorKind::io: return 1;
  }
  return 1;
}

}  // namespace stein
