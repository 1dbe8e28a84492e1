// Work of LibTorch that a device may have no room for.
#pragma once

#include <c10/util/Exception.h>
#include <stein/core/error.h>
#include <stein/inference/storage/device_room.h>

#include <string>

namespace stein::inference {

/// What `work` returns. Throws Error(io) with LibTorch's figures and what takes less memory where a device has no room.
template <class Work>
decltype(auto) with_room(const Work& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    const std::string told = error.what_without_backtrace();
    fail(ErrorKind::io, "{}; {}", told.substr(0, told.find(". Of the allocated memory")), takes_less_memory);
  }
}

}  // namespace stein::inference
