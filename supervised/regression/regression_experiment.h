// A regression as a person describes it: table, network, method, training.
#pragma once

#include <stein/supervised/network/perceptron_options.h>
#include <stein/supervised/regression/regression_trainer.h>
#include <stein/supervised/tables/table_set.h>
#include <stein/training/network_experiment.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::supervised {

/// What `stein regress` starts.
class RegressionExperiment final : public training::NetworkExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  RegressionExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  double noise_precision() const { return network_.spec.noise_precision; }
  /// What a network that was trained has of its table.
  struct Meaning {
    TableEncoding inputs;
    std::string target;
    Scale scale{};  ///< of the target

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
  std::unique_ptr<inference::Model<float>> make_model(std::int64_t inputs, inference::Device device) const;

  TableOptions table_;
  PerceptronOptions network_;
  training::EpochOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> regression_parts();

}  // namespace stein::supervised
