// Points in time as logs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stein::replay {

/// Whole seconds since 1970 of `2019-11-24 00:01:03.979311+00:00` or `2017-11-27T01:19:13.4610000Z` (ISO 8601; the
/// fraction may be missing, and so may the offset, which is then 0); nothing for any other text.
std::optional<std::int64_t> read_timestamp(std::string_view text);

}  // namespace stein::replay
