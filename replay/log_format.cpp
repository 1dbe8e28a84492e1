#include <stein/replay/log_format.h>

namespace stein::replay {

Registry<LogFormatEntry>& log_formats() {
  static Registry<LogFormatEntry> registry("log format");
  return registry;
}

}  // namespace stein::replay
