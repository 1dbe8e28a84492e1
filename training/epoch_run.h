// Trainings of one network, one a seed: what the runs of all trainers share.
#pragma once

#include <stein/runs/run.h>
#include <stein/training/epoch_trainer.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace stein::training {

/// Keeps stored samples in the run's folder, refuses to go on with other data, and counts seconds of training.
class EpochRun : public runs::Run {
 public:
  using Run::Run;

  /// Where the samples of a repetition are stored.
  static std::filesystem::path sample_folder(const RunDirectory& directory, std::uint64_t seed);

  EpochTrainer& trainer(std::int64_t i) { return static_cast<EpochTrainer&>(repetition(i)); }
  const EpochTrainer& trainer(std::int64_t i) const { return static_cast<const EpochTrainer&>(repetition(i)); }

  void open_files(const RunDirectory& directory, std::int64_t i) final;
  void check_manifest(const nlohmann::ordered_json& manifest) const final;
  nlohmann::ordered_json cost() const final;
  void add_cost(const nlohmann::ordered_json& earlier) final;

 protected:
  /// Data that updates took in a second, over all seeds and all processes of the run.
  double data_per_second() const;
  /// Adds what is known of the weights besides their scores: of a chain `temperature`, what was asked for, and
  /// `temperatures`, what the first seed's meter read, [{layer, temperature, interval}] (of another seed a warning says
  /// where it is far off); of a variational method `divergence`, KL(q ‖ p)/N at the end [nats a datum]; where weights
  /// are made sparse, of the weights at the end, means over seeds: `sparsity`, share of zeros in the layers that are
  /// made so, `parameters_left`, `operations` (multiplications for one row of inputs) and `bytes`, `operations_left`
  /// and `bytes_left`; and `layers` of the first seed, [{layer, weights, left, operations, operations_left}].
  void describe_weights(nlohmann::ordered_json& summary);
  /// A sentence where averages lose more than equal chances for all outcomes do.
  /// @param losses    mean −log p of each repetition's averages on the test [nats]; none before they are known
  /// @param outcomes  how many there are
  /// @param datum     what has one: "token"
  static std::optional<std::string> chance_warning(const std::vector<double>& losses, double outcomes,
                                                   const char* datum);
  /// What is to be known of a chain before it begins: that its samples are far from its mode for their noise alone, or
  /// that there is nothing to average.
  /// @param datum  what N counts: "token"
  std::vector<std::string> chain_notices(const char* datum) const;

 private:
  double training_seconds() const;
  nlohmann::ordered_json temperatures() const;
  void describe_sparsity(nlohmann::ordered_json& summary);
  std::optional<std::string> noise_notice(const char* datum) const;

  double earlier_seconds_ = 0;
};

/// A run whose repetitions are of class `Trainer`, derived from EpochTrainer.
template <class Trainer>
class EpochRunOf : public EpochRun {
 public:
  using EpochRun::EpochRun;
  Trainer& repetition(std::int64_t i) { return static_cast<Trainer&>(Run::repetition(i)); }
  const Trainer& repetition(std::int64_t i) const { return static_cast<const Trainer&>(Run::repetition(i)); }
};

}  // namespace stein::training
