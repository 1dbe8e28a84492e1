// What is said where a device has no room.
#pragma once

#include <stein/inference/storage/device.h>

#include <cstddef>
#include <string_view>

namespace stein::inference {

/// What of a run takes less memory of its device.
inline constexpr std::string_view takes_less_memory =
    "less is taken by smaller minibatches (batch_size), more gradient_chunks, fewer particles, chains or slots, or a "
    "smaller network";

/// Throws Error(io) saying how many bytes were asked for, how many there are, and what takes less.
[[noreturn]] void fail_without_room(Device device, std::size_t asked, std::size_t free, std::size_t total);

}  // namespace stein::inference
