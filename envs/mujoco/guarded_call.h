// Calls of MuJoCo whose fatal errors become exceptions: left alone, MuJoCo prints them and ends the program.
#pragma once

#include <stein/core/error.h>

#include <string>
#include <string_view>

namespace stein::envs {

/// What MuJoCo says, which may be several lines, as one.
std::string one_line(std::string_view message);

namespace detail {
void guarded_call(ErrorKind kind, void (*body)(void*), void* context);
}

/// Calls body(), which calls MuJoCo and owns nothing: an error leaves it by `longjmp`. Warnings inside are not printed.
/// @throws Error(kind) with MuJoCo's own message
template <class Body>
void guarded_call(ErrorKind kind, const Body& body) {
  detail::guarded_call(
      kind, [](void* erased) { (*static_cast<const Body*>(erased))(); }, const_cast<Body*>(&body));
}

}  // namespace stein::envs
