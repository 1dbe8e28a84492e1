// The log density in Eigen for the instructions that every machine of its kind has.
#define Eigen EigenBaseline
#include <stein/bench/eigen_density-inl.h>

namespace stein::bench {

EigenArithmetic eigen_baseline() {
  return {.instructions = "baseline", .log_density = log_density, .products = products};
}

}  // namespace stein::bench
