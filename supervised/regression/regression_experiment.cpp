#include <stein/core/error.h>
#include <stein/inference/models/perceptron_model.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/supervised/network/network_name.h>
#include <stein/supervised/regression/regression_experiment.h>
#include <stein/supervised/regression/regression_presets.h>
#include <stein/supervised/regression/regression_run.h>
#include <stein/supervised/tables/column_places.h>
#include <stein/supervised/tables/table_method.h>
#include <stein/supervised/tables/table_notices.h>
#include <stein/supervised/tables/table_part.h>
#include <stein/supervised/tables/table_split.h>

#include <utility>

namespace stein::supervised {
namespace {

/// The one column of numbers that is read; null where there are others too.
const Column* only_column(const Table& table, const TableEncoding& encoding) {
  if (encoding.inputs().size() != 1 || !encoding.inputs().front().numeric()) return nullptr;
  return &table.columns[table.find(encoding.inputs().front().name, "the network")];
}

RegressionRows rows_of(const TableSet& set, const TableEncoding& encoding, const std::vector<std::int64_t>& rows) {
  RegressionRows made{.inputs = encoding.encode(set.table, rows)};
  const Column* const only = only_column(set.table, encoding);
  for (const std::int64_t row : rows) {
    made.targets.push_back(set.table.columns[set.target].numbers[static_cast<std::size_t>(row)]);
    if (only != nullptr) made.places.push_back(only->numbers[static_cast<std::size_t>(row)]);
  }
  return made;
}

/// The range of the one column, and a fifth of it on both sides; no rows where there are several columns.
RegressionRows line_of(const TableSet& set, const TableEncoding& encoding) {
  const Column* const only = only_column(set.table, encoding);
  if (only == nullptr) return {};
  const Table line{.columns = {{.name = only->name, .numbers = places_along(*only, 200)}}};
  return {.inputs = encoding.encode(line, all_rows(line.rows())), .places = line.columns[0].numbers};
}

/// Everything is scaled by what the training rows are.
RegressionParts parts_of(const TableSet& set, const TableSplit& split, const TableEncoding& encoding) {
  const Column& target = set.table.columns[set.target];
  const Scale scale = Scale::of(target.numbers, split.train);
  if (scale.deviation == 0)
    fail(ErrorKind::data, "the target '{}' is {} in all {} rows for training: there is nothing to learn", target.name,
         scale.mean, split.train.size());
  constexpr double largest = 1e150;  // its square is a double
  if (!(scale.deviation < largest && scale.deviation > 1 / largest))
    fail(
        ErrorKind::data,
        "the target '{}' has an sd of {:.3g} in the {} rows for training, and no double holds its square: expected one "
        "between {:g} and {:g}; correct the cell that is far off, or change the unit",
        target.name, scale.deviation, split.train.size(), 1 / largest, largest);
  RegressionParts parts{.train = rows_of(set, encoding, split.train),
                        .validation = rows_of(set, encoding, split.validation),
                        .test = rows_of(set, encoding, split.test),
                        .line = line_of(set, encoding),
                        .scale = scale};
  RegressionExperiment::Meaning{.inputs = encoding, .target = target.name, .scale = scale}.save(parts.meaning);
  return parts;
}

PerceptronOptions regression_network() {
  PerceptronOptions options;
  options.spec.learn_noise_precision = true;
  return options;
}

training::EpochOptions regression_training() {
  return {.batch_size = 100, .epochs = 200, .burn_in = 0.5, .samples_per_epoch = 1};
}

std::string usual_seeds(const TableOptions& options) {
  return options.has_published_splits() ? fmt::format("0:{}", options.entry()->splits) : "0:1";
}

}  // namespace

RegressionExperiment::RegressionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : NetworkExperiment(kind, sources, published(), /*checkpoint_every=*/1'000'000, usual_seeds(named_table(sources))),
      table_(named_table(sources)),
      network_(regression_network()),
      training_(regression_training()) {
  adapt_to_tables(method_options(), training_, sources);
  method_options().posterior.slab.likelihood = inference::SlabLikelihood::regression;
  add_sampler(training::NetworkInputs::rows);
  add_part("Table", [this](OptionTable& table) { table_.describe(table, TargetKind::number); });
  add_part("Network", [this](OptionTable& table) { network_.describe_with_noise(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, table_.data, table_.is_file());
}

RegressionExperiment::Published RegressionExperiment::published() {
  return {regression_presets(), "regressions", regression_method};
}

TableOptions RegressionExperiment::named_table(const runs::OptionSources& sources) {
  TableOptions options;
  options.data = named_data(sources, published(), "boston");
  options.test_data = sources.look_ahead("test_data", "");
  return options;
}

void RegressionExperiment::Meaning::save(Snapshot& snapshot) const {
  snapshot.put_saved("inputs", inputs);
  snapshot.put_text("target", target);
  snapshot.put("scale", std::vector<double>{scale.mean, scale.deviation});
}

RegressionExperiment::Meaning RegressionExperiment::Meaning::saved_in(const Snapshot& snapshot) {
  const auto scale = snapshot.get_vector<double>("scale");
  if (scale.size() != 2) fail(ErrorKind::data, "expected mean and sd of the target, found {} numbers", scale.size());
  return {.inputs = TableEncoding(snapshot.part("inputs")),
          .target = snapshot.get_text("target"),
          .scale = {.mean = scale[0], .deviation = scale[1]}};
}

std::unique_ptr<inference::Model<float>> RegressionExperiment::make_model(std::int64_t inputs,
                                                                          inference::Device device) const {
  inference::MlpSpec spec = network_.spec;
  spec.inputs = inputs;
  return inference::make_perceptron_model(spec, method().posterior.arithmetic, device);
}

std::unique_ptr<inference::Model<float>> RegressionExperiment::make_model(const Snapshot& meaning,
                                                                          inference::Device device) const {
  return make_model(Meaning::saved_in(meaning).inputs.width(), device);
}

std::unique_ptr<training::EpochRun> RegressionExperiment::make_trainings() const {
  const inference::Device device = this->device();
  const TableSet set = read_table_set(table_, TargetKind::number);
  const auto encoding_of = [&](const TableSplit& split) { return TableEncoding(set.table, set.inputs, split.train); };
  const auto make_trainer = [&](std::uint64_t seed) {
    const TableSplit split = split_table(set, table_, seed);
    const TableEncoding encoding = encoding_of(split);
    RegressionParts parts = parts_of(set, split, encoding);
    parts.noise_precision = noise_precision();
    return std::make_unique<RegressionTrainer>(std::move(parts), training_, method(),
                                               make_model(encoding.width(), device), seed);
  };
  const TableSplit first = split_table(set, table_, seeds().first);
  const TableEncoding encoding = encoding_of(first);
  inference::MlpSpec spec = network_.spec;
  spec.inputs = encoding.width();
  std::vector<std::string> inputs;
  for (const TableEncoding::Input& input : encoding.inputs()) inputs.push_back(input.name);
  return std::make_unique<RegressionRun>(seeds(),
                                         RegressionRun::Facts{.data = set.name,
                                                              .source = "table " + set.name,
                                                              .target = set.table.columns[set.target].name,
                                                              .network = network_name(spec),
                                                              .method = method_name(),
                                                              .epochs = training_.epochs,
                                                              .inputs = std::move(inputs),
                                                              .synthetic = set.synthetic,
                                                              .notices = table_notices(set, first, encoding),
                                                              .data_options = values_of("Table"),
                                                              .checksums = set.table.checksums},
                                         make_trainer);
}

std::vector<runs::Part> regression_parts() {
  std::vector<runs::Part> parts = table_parts(TargetKind::number);
  PerceptronOptions network = regression_network();
  OptionTable noise;
  network.describe_with_noise(noise);
  parts.push_back(runs::make_part("network", "", "", noise));
  training::EpochOptions training = regression_training();
  parts.push_back(runs::make_part("training", "", "", OptionTable::of(training)));
  training::add_method_parts(parts, regression_presets(), training::NetworkInputs::rows);
  return parts;
}

}  // namespace stein::supervised
