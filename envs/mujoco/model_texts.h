// The MJCF files of envs/mujoco/models/ as they are part of the library.
#pragma once

#include <string_view>

namespace stein::envs::model_texts {

extern const std::string_view inverted_pendulum;
extern const std::string_view inverted_double_pendulum;
extern const std::string_view cart_pole_swing_up_dm;
extern const std::string_view rllab_cart_pole;
extern const std::string_view rllab_double_pendulum;

}  // namespace stein::envs::model_texts
