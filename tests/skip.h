// How a test says that it cannot run on this machine.
#pragma once

#include <string>

namespace stein::test {

/// Ends the section, or the case, that runs now: this machine lacks what it needs. `make test` counts the CTest entry
/// as skipped and lists the case with `reason`, which scripts/test has to find true of the machine.
[[noreturn]] void skip(const std::string& reason);

}  // namespace stein::test
