// Answers to lines of the console, one of JSON for each: the loop of `stein predict`.
#pragma once

#include <stein/runs/run_action.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::training {

/// Takes lines until no other waits, then answers those that could be read together, in their order; a line that could
/// not be read is answered by {"error": …}.
class LineService {
 public:
  virtual ~LineService() = default;

  /// Answers all lines of the console from here on. Throws Error(io) where answers cannot be written.
  void serve(const runs::Console& console);
  std::int64_t answered() const { return answered_; }
  std::int64_t errors() const { return errors_; }

 private:
  /// Keeps a line until `answer_kept`. Why it cannot be read, or an empty text; nothing for a line that wants no
  /// answer.
  virtual std::optional<std::string> keep(std::string_view line) = 0;
  /// An answer for each line that is kept, at least one, in their order; then none is.
  virtual std::vector<nlohmann::ordered_json> answer_kept() = 0;

  void write(std::FILE* out);

  std::vector<std::string> faults_;  ///< of the lines that wait for their answer; empty texts of those that are kept
  std::int64_t answered_ = 0, errors_ = 0;
};

}  // namespace stein::training
