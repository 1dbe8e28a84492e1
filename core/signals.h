// From SIGINT, SIGTERM, SIGHUP and SIGUSR1 to a StopToken, so that a run can save a checkpoint before it ends.
#pragma once

#include <stein/core/stop_token.h>

namespace stein {

/// From now on the first SIGINT, SIGTERM, SIGHUP (a closed terminal) or SIGUSR1 (which `mpirun` passes on to what it
/// started, and batch systems send before time is up) sets `token`; the first Ctrl-C says so on a terminal. A later
/// SIGINT ends the process at once. Signals within half a second of the first count as the same request: `timeout` and
/// some shells send each twice. A SIGHUP that is ignored, as under `nohup`, stays ignored.
/// @throws Error(io) if the system refuses
void install_signal_handlers(const StopToken& token);

}  // namespace stein
