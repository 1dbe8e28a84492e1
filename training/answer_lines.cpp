#include <stein/core/error.h>
#include <stein/training/answer_lines.h>

#include <nlohmann/json.hpp>

namespace stein::training {

void write_lines(const std::vector<nlohmann::ordered_json>& answers, std::FILE* out) {
  for (const nlohmann::ordered_json& answer : answers)
    if (std::fputs((answer.dump() + "\n").c_str(), out) < 0) fail(ErrorKind::io, "cannot write to standard output");
  if (std::fflush(out) != 0) fail(ErrorKind::io, "cannot write to standard output");
}

}  // namespace stein::training
