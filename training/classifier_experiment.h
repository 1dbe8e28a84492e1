// What experiments that train a classifier have besides.
#pragma once

#include <stein/training/labelled_rows.h>
#include <stein/training/network_experiment.h>

#include <memory>
#include <string>

namespace stein::training {

/// Rows of sentences, images or tables with classes.
class ClassifierExperiment : public NetworkExperiment {
 public:
  /// Rows of other data as a network of this experiment reads them, for what it says of what it never learned. Of a
  /// registered set they are its test part, where it has one; of their classes nothing is said.
  /// @param data     a registered name or a file, as `stein classify --data` takes them
  /// @param meaning  of the network's inputs and classes (TrainedNetwork)
  /// @throws Error(usage) for an unknown name; Error(data) for data that are missing, damaged, or of another kind than
  ///         the network reads
  virtual std::unique_ptr<LabelledRows> other_rows(const std::string& data, const Snapshot& meaning) const = 0;

 protected:
  using NetworkExperiment::NetworkExperiment;
};

}  // namespace stein::training
