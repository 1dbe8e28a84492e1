// Limits on the length of a gradient.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/samplers/clip_rule.h>
#include <stein/inference/storage/matrix_view.h>

namespace stein::inference {

/// How large a gradient may be, and what is done to a larger one.
struct GradientClipOptions {
  double clip_norm = 0;  ///< of one particle's ∇ of the full log joint; 0: no limit
  ClipRule clip_rule = ClipRule::clip;

  template <class V>
  void describe(V& v) {
    v("clip_norm", clip_norm, "longest gradient of one particle, ∇ of the full log joint; 0: no clipping",
      non_negative);
    v("clip_rule", clip_rule, "clip: scale longer gradients down to clip_norm; rescale: scale all gradients to it",
      {{"clip", ClipRule::clip}, {"rescale", ClipRule::rescale}});
  }
};

/// What a gradient of this length is multiplied with; 1 where it stays.
inline double clip_factor(double length, const GradientClipOptions& options) {
  return clip_factor(length, options.clip_norm, options.clip_rule);
}

namespace reference {

/// Applies the limit to every row; a row of zeros stays.
template <class Scalar>
void clip_rows(MatrixView<Scalar> gradients, const GradientClipOptions& options);

}  // namespace reference

namespace fused {

/// The same in SIMD on all threads, with the same bits.
void clip_rows(MatrixView<float> gradients, const GradientClipOptions& options);

}  // namespace fused

}  // namespace stein::inference
