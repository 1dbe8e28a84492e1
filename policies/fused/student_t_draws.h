// Draws of Student-t variables in SIMD.
#pragma once

#include <stein/policies/student_t_draws.h>

namespace stein::policies::fused {

/// As reference::draw_each does, bit for bit on every SIMD target.
void draw_each(const StudentTDraws& draws);

}  // namespace stein::policies::fused
