// Training of a regression on rows of a table, with one seed.
#pragma once

#include <stein/supervised/regression/regression_result.h>
#include <stein/supervised/regression/row_regressor.h>
#include <stein/training/conclusion.h>
#include <stein/training/epoch_order.h>
#include <stein/training/epoch_trainer.h>

#include <memory>
#include <optional>
#include <vector>

namespace stein::supervised {

/// What a regression learns from, is stopped by, and is tested on.
struct RegressionParts {
  RegressionRows train, validation, test;
  RegressionRows line{};       ///< of a table with one column of numbers: places over its range and beyond
  Scale scale{};               ///< of the training targets
  double noise_precision = 1;  ///< γ on the network's scale, of a network that does not learn it
  Snapshot meaning{};          ///< of inputs and target, for predictions of new rows (EpochTrainer)
};

/// Goes through the training rows in an order that each epoch draws anew; one step is one row. Targets have mean 0 and
/// sd 1 in training. A chain's samples predict the rows of all parts as they come, of other methods the weights at the
/// end do; of a sample nothing but what it predicts is kept. Validation is by −log density of the weights as they are.
///
/// Where an epoch ends it records what the samples so far predict together, or the weights while there is no sample:
/// "train_rmse" of 1,000 rows at most, "validation_rmse", "test_rmse" and the same with "log_likelihood".
class RegressionTrainer final : public training::EpochTrainer {
 public:
  /// Without validation rows it is not validated.
  RegressionTrainer(RegressionParts parts, const training::EpochOptions& options,
                    const training::WeightMethodOptions& method, std::unique_ptr<inference::Model<float>> model,
                    std::uint64_t seed);

  const RegressionParts& parts() const { return parts_; }

  // To be asked after the last step; the trainer then holds the weights of the end.

  /// Finds it, unless it has concluded.
  RegressionOutcome outcome();
  RegressionResult test_result() { return outcome().test; }
  /// Finds the outcome, which is then there until `forget_outcome`.
  void conclude(const StopToken& stop) override;
  void forget_outcome() { concluded_.forget(); }
  /// What a prediction of the test rows is averaged over.
  SampledNumbers test_samples() { return samples_at_end(test_); }
  /// What the predictions along `parts().line` are averaged over.
  SampledNumbers line_samples() { return samples_at_end(line_); }

 private:
  /// Rows that samples are shown to.
  struct Shown {
    Shown(const char* name, const RegressionRows& rows, const RegressionParts& parts);

    const char* name;
    RowRegressor rows;
    SampledNumbers samples;
  };

  Snapshot meaning() const override { return parts_.meaning; }
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  void take_sample() override;
  void drop_samples(std::int64_t count) override;
  void end_epoch(runs::Records& records) override;
  double validate() override;
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  /// The mean of a variational method, all particles of an ensemble.
  training::WeightDraws weights_as_they_are();
  /// What they say.
  SampledNumbers of_weights(Shown& shown);
  /// A chain's samples; else draws of a variational method, the particles, the weights.
  SampledNumbers samples_at_end(Shown& shown);
  RegressionResult result(Shown& shown, const SampledNumbers& samples);

  /// Calls see(shown) for all parts that have rows.
  template <class See>
  void for_each_shown(const See& see) {
    for (Shown* shown : {&train_, &validation_, &test_, &line_})
      if (shown->rows.count() > 0) see(*shown);
  }

  RegressionParts parts_;
  RegressionRows few_train_;
  Shown train_, validation_, test_, line_;
  training::Conclusion<RegressionOutcome> concluded_;
  training::EpochOrder order_;
  inference::Matrix<float> inputs_;
  std::vector<float> targets_;
};

}  // namespace stein::supervised
