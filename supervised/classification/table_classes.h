// A classifier of rows of a table as a person describes it: table, network, method, training.
#pragma once

#include <stein/supervised/network/perceptron_options.h>
#include <stein/supervised/tables/table_encoding.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/training/classifier_experiment.h>
#include <stein/training/epoch_options.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::supervised {

/// What `stein classify` starts where the data are a table.
class TableClassExperiment final : public training::ClassifierExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  TableClassExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// Whether the sources mean a table: its name, a file `.csv`, `.tsv` or `.csv.gz`, or a preset of such.
  static bool recognises(const runs::OptionSources& sources);

  std::unique_ptr<training::LabelledRows> other_rows(const std::string& data, const Snapshot& meaning) const override;

  /// What a network that was trained has of its table.
  struct Meaning {
    TableEncoding inputs;
    std::vector<std::string> classes;

    void save(Snapshot& snapshot) const;
    /// What `save` wrote. Throws Error(data) if it is not there or damaged.
    static Meaning saved_in(const Snapshot& snapshot);
  };

 private:
  /// The table is read, and parted as each seed wants.
  std::unique_ptr<training::EpochRun> make_trainings() const override;
  static Published published();
  /// The options with the names of the data, on which it depends which others there are.
  static TableOptions named_table(const runs::OptionSources& sources);
  const std::string& data() const override { return table_.data; }
  std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning, inference::Device device) const override;
  inference::MlpSpec network(std::int64_t inputs, std::int64_t classes) const;

  TableOptions table_;
  PerceptronOptions network_;
  training::EpochOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> table_class_parts();

}  // namespace stein::supervised
