// The loop over slots of a classic task, included once for every SIMD target: the task's arithmetic is inlined into it,
// and the compiler makes vectors of it, which do the same operations on every number.

/// `state` and the others are those of a SlotBlock, apart from each other in memory, which a compiler believes of
/// parameters only.
template <class Task>
void step_all(const Task& task, std::int64_t slots, std::int64_t stride, float* __restrict state,
              const float* __restrict actions, float* __restrict rewards, float* __restrict terminated,
              float* __restrict observations) {
  constexpr int state_size = Task::state_size, seen_size = Task::observation_size, action_size = Task::action_size;
  for (std::int64_t i = 0; i < slots; ++i) {
    float here[state_size], action[action_size], seen[seen_size];
    for (int k = 0; k < state_size; ++k) here[k] = state[k * stride + i];
    for (int k = 0; k < action_size; ++k) action[k] = actions[i * action_size + k];
    const Outcome<float> outcome = task.step(here, action);
    task.observe(here, seen);
    for (int k = 0; k < state_size; ++k) state[k * stride + i] = here[k];
    for (int k = 0; k < seen_size; ++k) observations[i * seen_size + k] = seen[k];
    rewards[i] = outcome.reward;
    terminated[i] = outcome.terminated;
  }
}

/// Steps slots 0 … n − 1 of `block`.
template <class Task>
void step_slots(const Task& task, const SlotBlock& block) {
  step_all(task, block.slots, block.stride, block.state, block.actions, block.rewards, block.terminated,
           block.observations);
}
