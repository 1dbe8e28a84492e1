#include <stein/supervised/tables/table_method.h>

namespace stein::supervised {

void adapt_to_tables(training::WeightMethodOptions& method, training::EpochOptions& training,
                     const runs::OptionSources& sources) {
  OptionTable sampler;
  method.sampler.describe(sampler);
  if (method.kind == training::MethodKind::ensemble) {
    method.particles = 20;
    sampler.set("step_size", "0.01");
  }
  if (!method.takes_all_data) return;
  training.epochs = 400;
  method.posterior.prior.learn_weight_precision = sources.look_ahead("prior", "gaussian") == "gaussian";
  if (sampler.contains("max_depth")) sampler.set("max_depth", "6");
}

}  // namespace stein::supervised
