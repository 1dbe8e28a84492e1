#include <stein/supervised/images/image_method.h>

namespace stein::supervised {

void adapt_to_images(training::WeightMethodOptions& method) {
  constexpr double narrow = 0.01;
  method.posterior.variational.initial_deviation_low = narrow;
  method.posterior.variational.initial_deviation_high = narrow;
  method.outer_deviation = 1;
}

}  // namespace stein::supervised
