#include <stein/core/simd.h>
#include <stein/envs/acrobot.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/fused/classic_steps.h>
#include <stein/envs/pendulum.h>
#include <stein/envs/rllab_cart_pole.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/envs/fused/classic_steps.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::envs::HWY_NAMESPACE {

#include <stein/envs/step_slots.inc>

#define STEIN_STEP(Task)                                       \
  void step_##Task(const Task& task, const SlotBlock& block) { \
    step_slots(task, block);                                   \
  }
STEIN_STEP(Acrobot)
STEIN_STEP(CartPole)
STEIN_STEP(CartPoleSwingUp)
STEIN_STEP(DoublePendulum)
STEIN_STEP(Pendulum)
STEIN_STEP(RllabCartPole)
#undef STEIN_STEP

}  // namespace stein::envs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::envs {

#define STEIN_FUSED(Task)                                                 \
  HWY_EXPORT(step_##Task);                                                \
  template <>                                                             \
  void fused_step_slots<Task>(const Task& task, const SlotBlock& block) { \
    HWY_DYNAMIC_DISPATCH(step_##Task)(task, block);                       \
  }
STEIN_FUSED(Acrobot)
STEIN_FUSED(CartPole)
STEIN_FUSED(CartPoleSwingUp)
STEIN_FUSED(DoublePendulum)
STEIN_FUSED(Pendulum)
STEIN_FUSED(RllabCartPole)
#undef STEIN_FUSED

}  // namespace stein::envs
#endif
