// The loops over slots of Stein's own classic tasks, compiled for every SIMD target and chosen at run time.
#pragma once

#include <stein/envs/classic_environment.h>

namespace stein::envs {

/// The same numbers as `reference::step_slots<Task>`, faster. There is one for each task that classic_steps.cpp lists.
template <class Task>
void fused_step_slots(const Task& task, const SlotBlock& block);

}  // namespace stein::envs
