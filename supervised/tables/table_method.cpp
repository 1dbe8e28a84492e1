#include <stein/supervised/tables/table_method.h>

namespace stein::supervised {

void adapt_to_tables(training::WeightMethodOptions& method) {
  if (method.kind != training::MethodKind::ensemble) return;
  method.particles = 20;
  OptionTable table;
  method.sampler.describe(table);
  table.set("step_size", "0.01");
}

}  // namespace stein::supervised
