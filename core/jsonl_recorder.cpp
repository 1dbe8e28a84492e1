#include <stein/core/jsonl_recorder.h>

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace stein {

void JsonlRecorder::scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) {
  std::string line;
  fmt::format_to(std::back_inserter(line), R"({{"tag":{},"seed":{},"step":{},"value":)", nlohmann::json(tag).dump(),
                 seed, step);
  if (std::isfinite(value)) {
    line +=
        value == 0 && std::signbit(value) ? "-0.0}" : fmt::format("{}}}", value);  // readers take -0 for the integer 0
  } else {
    line += "null}";
  }
  const std::scoped_lock lock(mutex_);
  file_.append_line(line);
}

void JsonlRecorder::flush() {
  const std::scoped_lock lock(mutex_);
  file_.flush();
}

std::uint64_t JsonlRecorder::sync() {
  const std::scoped_lock lock(mutex_);
  file_.sync();
  return file_.tell();
}

}  // namespace stein
