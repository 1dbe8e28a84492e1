// What went wrong on a rank as bytes for another one.
#pragma once

#include <stein/distributed/agree.h>

#include <string>
#include <string_view>

namespace stein::distributed {

/// `failure` as bytes, never none; what is no UTF-8 in its sentence, as a path may be, is replaced.
std::string to_message(const Failure& failure);

/// What `to_message` was given.
Failure failure_in(std::string_view bytes);

}  // namespace stein::distributed
