// All tasks of envs/dynamics.h by their types, for whoever makes a form of each: the kernels of a device.
#pragma once

#include <stein/envs/acrobot.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/deep_sea.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/pendulum.h>
#include <stein/envs/rllab_cart_pole.h>
#include <stein/envs/sparse_cart_pole_swing_up.h>

#include <any>

namespace stein::envs {

/// Calls visit(task) with the task that `AnalyticTask::dynamics` holds.
/// @returns whether it is one of those listed here
template <class Visit>
bool with_task(const std::any& dynamics, const Visit& visit) {
  const auto visit_if = [&]<class Task>(const Task* task) {
    if (task != nullptr) visit(*task);
    return task != nullptr;
  };
  return visit_if(std::any_cast<Acrobot>(&dynamics)) || visit_if(std::any_cast<CartPole>(&dynamics)) ||
         visit_if(std::any_cast<CartPoleSwingUp>(&dynamics)) || visit_if(std::any_cast<DeepSea>(&dynamics)) ||
         visit_if(std::any_cast<DoublePendulum>(&dynamics)) || visit_if(std::any_cast<Pendulum>(&dynamics)) ||
         visit_if(std::any_cast<RllabCartPole>(&dynamics)) || visit_if(std::any_cast<SparseCartPoleSwingUp>(&dynamics));
}

}  // namespace stein::envs
