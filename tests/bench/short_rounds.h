// How long a benchmark measures in a test, which asks what it says and not how fast it is.
#pragma once

#include <stein/bench/benchmark.h>

namespace stein::test {

inline constexpr bench::PairSettings short_rounds{.rounds = 7, .round_seconds = 0.001, .warm_up_seconds = 0.001};

}  // namespace stein::test
