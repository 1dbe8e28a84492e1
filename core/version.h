// Which Stein this is.
#pragma once

#include <string_view>

namespace stein {

/// Version of the project, for instance "0.1.0".
std::string_view version() noexcept;

/// Git commit at configure time, with "+" at its end if files differed from it; "unknown" outside a checkout.
std::string_view commit() noexcept;

}  // namespace stein
