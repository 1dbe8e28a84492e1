// Why a line of a log is no JSON object.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace stein::replay {

/// A reason for a person; "" where there was no error.
inline std::string_view json_fault(simdjson::error_code error) {
  switch (error) {
    case simdjson::SUCCESS: return "";
    case simdjson::DEPTH_ERROR: return "JSON that is nested too deep";
    case simdjson::NUMBER_ERROR: return "a number in it is none, or too large";
    default: return "no JSON object";
  }
}

}  // namespace stein::replay
