#include <stein/core/data/csv_table.h>
#include <stein/core/error.h>
#include <stein/inference/models/perceptron_model.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/supervised/classification/class_names.h>
#include <stein/supervised/classification/class_notices.h>
#include <stein/supervised/classification/table_class_presets.h>
#include <stein/supervised/classification/table_classes.h>
#include <stein/supervised/classification/table_rows.h>
#include <stein/supervised/network/network_name.h>
#include <stein/supervised/tables/column_places.h>
#include <stein/supervised/tables/table_method.h>
#include <stein/supervised/tables/table_notices.h>
#include <stein/supervised/tables/table_part.h>
#include <stein/supervised/tables/table_split.h>
#include <stein/training/classifier_run.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace stein::supervised {
namespace {

/// The plane of a table that is read from two columns of numbers: their ranges and a fifth of them on all sides.
std::optional<training::ClassPlane> plane_of(const TableSet& set, const TableEncoding& encoding) {
  const std::vector<TableEncoding::Input>& inputs = encoding.inputs();
  if (inputs.size() != 2 || !inputs[0].numeric() || !inputs[1].numeric()) return std::nullopt;
  const auto places = [&](const std::string& name) {
    return places_along(set.table.columns[set.table.find(name, "the network")], 60);
  };
  return training::ClassPlane{
      .x_name = inputs[0].name, .y_name = inputs[1].name, .x = places(inputs[0].name), .y = places(inputs[1].name)};
}

/// The places of a plane as rows without classes.
std::unique_ptr<TableRows> rows_of(const training::ClassPlane& plane, const TableEncoding& encoding) {
  Column x{.name = plane.x_name}, y{.name = plane.y_name};
  for (const double up : plane.y)
    for (const double across : plane.x) x.numbers.push_back(across), y.numbers.push_back(up);
  const Table table{.columns = {std::move(x), std::move(y)}};
  return std::make_unique<TableRows>(encoding.encode(table, all_rows(table.rows())), std::vector<std::int64_t>{});
}

training::LabelledParts parts_of(const TableSet& set, const TableSplit& split, const TableEncoding& encoding,
                                 MinibatchScale scale) {
  const Column& target = set.table.columns[set.target];
  const auto rows = [&](const std::vector<std::int64_t>& of) {
    std::vector<std::int64_t> labels;
    for (const std::int64_t row : of) labels.push_back(target.levels[static_cast<std::size_t>(row)]);
    return std::make_unique<TableRows>(encoding.encode(set.table, of), std::move(labels), scale);
  };
  training::LabelledParts parts{
      .train = rows(split.train), .validation = rows(split.validation), .test = rows(split.test)};
  if (const auto plane = plane_of(set, encoding)) parts.plane = rows_of(*plane, encoding);
  TableClassExperiment::Meaning{.inputs = encoding, .classes = target.categories}.save(parts.meaning);
  return parts;
}

std::vector<std::string> unseen_classes(const TableSet& set, const TableSplit& split) {
  const Column& target = set.table.columns[set.target];
  std::vector<std::int64_t> labels;
  for (const std::int64_t row : split.train) labels.push_back(target.levels[static_cast<std::size_t>(row)]);
  return class_notices(target.categories, labels, "row");
}

/// Of classes that no row of training has, and of those that are many and look like numbers.
std::vector<std::string> notices_of(const TableSet& set, const TableSplit& split) {
  const Column& target = set.table.columns[set.target];
  std::vector<std::string> notices = unseen_classes(set, split);
  constexpr std::size_t few_classes = 20;
  if (target.categories.size() > few_classes &&
      std::ranges::all_of(target.categories, [](const std::string& name) { return number_in(name).has_value(); }))
    notices.push_back(fmt::format("the {} classes of '{}' are numbers: `stein regress` predicts how large one is",
                                  target.categories.size(), target.name));
  return notices;
}

training::EpochOptions class_training() {
  return {.batch_size = 100, .epochs = 50, .burn_in = 0.5, .samples_per_epoch = 1};
}

}  // namespace

TableClassExperiment::TableClassExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : ClassifierExperiment(kind, sources, published(), /*checkpoint_every=*/1'000'000),
      table_(named_table(sources)),
      training_(class_training()) {
  network_.spec.likelihood = inference::Likelihood::categorical;
  adapt_to_tables(method_options(), training_, sources);
  add_sampler(training::NetworkInputs::rows);
  add_part("Table", [this](OptionTable& table) { table_.describe(table, TargetKind::category); });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, table_.data, table_.is_file());
}

TableClassExperiment::Published TableClassExperiment::published() {
  return {table_class_presets(), "classifiers of tables", table_class_method};
}

bool TableClassExperiment::recognises(const runs::OptionSources& sources) {
  const std::string data = sources.look_ahead("data", "");
  if (data.empty()) return training::is_preset(table_class_presets(), sources.preset);
  return table_sets().entries().contains(data) || training::means_table(data);
}

TableOptions TableClassExperiment::named_table(const runs::OptionSources& sources) {
  TableOptions options;
  options.data = named_data(sources, published(), "two-moons");
  options.test_data = sources.look_ahead("test_data", "");
  return options;
}

void TableClassExperiment::Meaning::save(Snapshot& snapshot) const {
  snapshot.put_saved("inputs", inputs);
  save_class_names(classes, snapshot);
}

TableClassExperiment::Meaning TableClassExperiment::Meaning::saved_in(const Snapshot& snapshot) {
  return {.inputs = TableEncoding(snapshot.part("inputs")), .classes = saved_class_names(snapshot)};
}

inference::MlpSpec TableClassExperiment::network(std::int64_t inputs, std::int64_t classes) const {
  inference::MlpSpec spec = network_.spec;
  spec.inputs = inputs, spec.outputs = classes;
  return spec;
}

std::unique_ptr<inference::Model<float>> TableClassExperiment::make_model(const Snapshot& meaning,
                                                                          inference::Device device) const {
  const Meaning known = Meaning::saved_in(meaning);
  return inference::make_perceptron_model(network(known.inputs.width(), std::ssize(known.classes)),
                                          method().posterior.arithmetic, device);
}

std::unique_ptr<training::LabelledRows> TableClassExperiment::other_rows(const std::string& data,
                                                                         const Snapshot& meaning) const {
  const TableEncoding encoding = Meaning::saved_in(meaning).inputs;
  TableOptions options = table_;
  options.data = data, options.test_data = "";
  if (options.is_file() && !options.is_arrays()) {
    CsvForm form;
    const std::vector<std::string> there = csv_column_names(data);
    for (const TableEncoding::Input& input : encoding.inputs()) {
      if (std::ranges::find(there, input.name) == there.end())
        fail(ErrorKind::data, "'{}' has no column '{}', which the run was trained on; it has {}", data, input.name,
             runs::few(there));
      if (!input.numeric()) form.categorical.push_back(input.name);
    }
    const Table table = read_csv_table(data, form);
    return std::make_unique<TableRows>(encoding.encode(table, all_rows(table.rows())), std::vector<std::int64_t>{});
  }
  STEIN_CHECK(!options.is_file(), "expected a registered table or a file of comma-separated values, got '{}'", data);
  options.target = "", options.test_target = "";
  const TableSet set = read_table_set(options, TargetKind::category);
  std::vector<std::int64_t> rows = all_rows(set.table.rows());
  rows.erase(rows.begin(), rows.begin() + set.given_test);
  return std::make_unique<TableRows>(encoding.encode(set.table, rows), std::vector<std::int64_t>{});
}

std::unique_ptr<training::EpochRun> TableClassExperiment::make_trainings() const {
  const inference::Device device = this->device();
  const TableSet set = read_table_set(table_, TargetKind::category);
  const std::vector<std::string>& classes = set.table.columns[set.target].categories;
  if (classes.size() < 2)
    fail(ErrorKind::data, "the target '{}' has the one class '{}' in all rows: there is nothing to learn",
         set.table.columns[set.target].name, classes.front());
  const auto encoding_of = [&](const TableSplit& split) { return TableEncoding(set.table, set.inputs, split.train); };
  const auto make_trainer = [&](std::uint64_t seed) {
    const TableSplit split = split_table(set, table_, seed);
    const TableEncoding encoding = encoding_of(split);
    return std::make_unique<training::ClassifierTrainer>(
        parts_of(set, split, encoding, table_.normalisation), training_, method(),
        inference::make_perceptron_model(network(encoding.width(), std::ssize(classes)), method().posterior.arithmetic,
                                         device),
        seed);
  };
  const TableSplit first = split_table(set, table_, seeds().first);
  const TableEncoding encoding = encoding_of(first);
  std::vector<std::string> notices = table_notices(set, first, encoding);
  std::ranges::copy(notices_of(set, first), std::back_inserter(notices));
  for (std::uint64_t seed = seeds().first + 1; seed < seeds().end; ++seed)
    for (const std::string& notice : unseen_classes(set, split_table(set, table_, seed)))
      notices.push_back(fmt::format("seed {}: {}", seed, notice));
  return std::make_unique<training::ClassifierRun>(
      seeds(),
      training::ClassifierRun::Facts{.data = set.name,
                                     .source = "table " + set.name,
                                     .datum = "row",
                                     .network = network_name(network(encoding.width(), std::ssize(classes))),
                                     .method = method_name(),
                                     .epochs = training_.epochs,
                                     .classes = classes,
                                     .plane = plane_of(set, encoding),
                                     .synthetic = set.synthetic,
                                     .notices = std::move(notices),
                                     .data_options = values_of("Table"),
                                     .checksums = set.table.checksums},
      make_trainer);
}

std::vector<runs::Part> table_class_parts() {
  std::vector<runs::Part> parts = table_parts(TargetKind::category);
  PerceptronOptions network;
  parts.push_back(runs::make_part("network", "", "", OptionTable::of(network)));
  training::EpochOptions training = class_training();
  parts.push_back(runs::make_part("training", "", "", OptionTable::of(training)));
  training::add_method_parts(parts, table_class_presets(), training::NetworkInputs::rows);
  return parts;
}

}  // namespace stein::supervised
