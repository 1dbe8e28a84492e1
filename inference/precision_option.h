// The precision of products as an option of runs.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/precision.h>

namespace stein::inference {

/// `precision` in a description of options.
template <class V>
void describe_precision(V& v, Precision& precision, const char* help) {
  v("precision", precision, help,
    {{"single", Precision::single}, {"bfloat16", Precision::bfloat16}, {"tf32", Precision::tf32}})
      .in_older_runs("single");
}

}  // namespace stein::inference
