// From SIGINT and SIGTERM to a StopToken, so that a run can save a checkpoint before it ends.
#pragma once

#include <stein/core/stop_token.h>

namespace stein {

/// From now on the first SIGINT or SIGTERM sets `token` and nothing else; a later SIGINT ends the process at once.
/// Signals within half a second of the first count as the same request: `timeout` and some shells send each twice.
/// @throws Error(io) if the system refuses
void install_signal_handlers(const StopToken& token);

}  // namespace stein
