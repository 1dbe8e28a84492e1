// Regressions in Eigen for the instructions that every machine of its kind has.
#define Eigen EigenBaseline
#include <stein/bench/eigen_regressions-inl.h>

namespace stein::bench {

EigenRegressions eigen_regressions_baseline() {
  return regressions_for("baseline");
}

}  // namespace stein::bench
