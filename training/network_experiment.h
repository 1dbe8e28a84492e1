// What all experiments share that train a network by a named method.
#pragma once

#include <stein/runs/experiment.h>
#include <stein/training/epoch_run.h>
#include <stein/training/published_preset.h>
#include <stein/training/trained_network.h>
#include <stein/training/weight_method.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::training {

/// What a network reads, which decides on the methods that it can be trained by.
enum class NetworkInputs {
  rows,   ///< rows of numbers: all methods
  words,  ///< sequences: none that hides parts of rows, or looks at all rows at a time
};

/// Their names.
std::vector<std::string> methods_for(NetworkInputs inputs);

/// Options of data and network are the derived class's; the method, its options and the published presets stand here. A
/// step is a datum, and by default a run goes through all epochs.
///
/// A derived constructor adds its parts between `add_sampler` and `read_with_method`.
class NetworkExperiment : public runs::Experiment {
 public:
  const WeightMethodOptions& method() const { return method_options_; }
  /// "psgld".
  const std::string& method_name() const { return method_; }
  /// Where it is trained. Throws Error(usage) where there is no such device: to be asked before the data are read.
  inference::Device device() const;
  /// Throws Error(usage) where predictions are asked for dropout that the network does not have.
  void check_dropout(bool wanted) const;
  /// The network of a seed of a run of this experiment, as its newest checkpoint left it.
  /// @param device  where it predicts; empty: where it was trained
  /// @throws Error(usage) where there is no such seed or device; Error(data) where what was saved does not fit
  TrainedNetwork trained_network(const runs::SavedRun& run, std::uint64_t seed, const std::string& device) const;
  /// The repetitions that `make_trainings` makes, which begin with the weights of the run that the options name, if
  /// they do.
  std::unique_ptr<runs::Run> make_run(const std::string& data) const final;
  /// "ptb/psgld": the data, a file without its folder and ending, and the method.
  std::string name() const final;

 protected:
  /// Published settings, what they are of ("language models"), and the method where none is named.
  struct Published {
    std::span<const PublishedPreset> presets;
    std::string_view what;
    std::string_view method = "psgld";
  };
  /// Throws Error(usage) for an unknown preset or method. @param seeds  of a run that does not say which
  NetworkExperiment(const runs::RunKind& kind, const runs::OptionSources& sources, const Published& published,
                    std::int64_t checkpoint_every, std::string seeds = "0:1");

  /// The method's options, for a constructor that knows better defaults of some.
  WeightMethodOptions& method_options() { return method_options_; }
  /// The data that the sources name, or the preset that they name; else `otherwise`.
  static std::string named_data(const runs::OptionSources& sources, const Published& published,
                                const std::string& otherwise);
  /// What a run is, by which method and on which device. Throws Error(usage) for a method that is not for such inputs.
  void add_sampler(NetworkInputs inputs);
  /// Adds the options of the method, offers the presets of `data` and the method, and reads all sources.
  /// @param data     the option's value, whose path becomes absolute where it is a file of one's own
  /// @param is_file  whether it is one; presets without data are for such
  void read_with_method(const runs::OptionSources& sources, std::string& data, bool is_file);

 private:
  void tune_for_half(const std::string& epochs);
  /// Trainings ready for their first step; as `make_run`.
  virtual std::unique_ptr<EpochRun> make_trainings() const = 0;
  /// What the network learns from: a registered name, or the path of a file.
  virtual const std::string& data() const = 0;
  /// The network for inputs and outputs of this meaning (EpochTrainer).
  virtual std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning,
                                                              inference::Device device) const = 0;

  Published published_;
  std::string method_, device_ = "cpu", from_run_;
  bool begins_ = false;  ///< and does not go on
  WeightMethodOptions method_options_;
};

/// Appends the methods for such inputs, and the published settings.
void add_method_parts(std::vector<runs::Part>& parts, std::span<const PublishedPreset> presets, NetworkInputs inputs);

}  // namespace stein::training
