#include <stein/core/error.h>
#include <stein/replay/log_format.h>

namespace stein::replay {

void LogFormat::begin_contexts(std::string_view) {
  fail(ErrorKind::usage,
       "lines of this format are nothing without a decision: give contexts as json (what it looks like stands in "
       "docs/replay.md)");
}

Registry<LogFormatEntry>& log_formats() {
  static Registry<LogFormatEntry> registry("log format");
  return registry;
}

}  // namespace stein::replay
