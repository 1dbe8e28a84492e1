// Training of a classifier on labelled rows, with one seed.
#pragma once

#include <stein/inference/storage/matrix.h>
#include <stein/training/classifier_result.h>
#include <stein/training/conclusion.h>
#include <stein/training/epoch_order.h>
#include <stein/training/epoch_trainer.h>
#include <stein/training/labelled_rows.h>
#include <stein/training/row_classifier.h>
#include <stein/training/sampled_classes.h>

#include <memory>
#include <optional>
#include <vector>

namespace stein::training {

/// Goes through the training rows in an order that each epoch draws anew; one step is one row. A chain's samples
/// classify rows of all parts as they come, of the other methods the weights at the end do; of a sample nothing but its
/// logits is kept.
///
/// Where an epoch ends it records the errors of the average over the samples so far, or of the weights while there is
/// no sample: "train_error" of 1,000 training rows at most, "validation_error", "test_error".
class ClassifierTrainer final : public EpochTrainer {
 public:
  /// Without validation rows it is not validated. @throws Error(data) where the training or the test part has no row
  ClassifierTrainer(LabelledParts parts, const EpochOptions& options, const WeightMethodOptions& method,
                    std::unique_ptr<inference::Model<float>> model, std::uint64_t seed);

  LabelledRows& validation_rows() const { return *parts_.validation; }
  LabelledRows& test_rows() const { return *parts_.test; }

  /// Share of test rows that the weights mistook with which the training began, where these were another run's.
  std::optional<double> error_before() const { return error_before_; }

  // To be asked after the last step; the trainer then holds the weights of the end.

  /// Finds it, unless it has concluded.
  ClassifierOutcome outcome();
  ClassifierResult test_result() { return outcome().test; }
  /// Finds the outcome, which is then there until `forget_outcome`.
  void conclude(const StopToken& stop) override;
  void forget_outcome() { concluded_.forget(); }
  /// What predictions of places on the plane are averaged over; nothing where there is none.
  std::optional<SampledClasses> plane_samples();

 private:
  /// Rows that samples are shown to.
  struct Shown {
    Shown(const char* curve, LabelledRows& rows, std::int64_t at_most, std::int64_t classes);

    const char* curve;
    RowClassifier rows;
    SampledClasses samples;
  };

  Snapshot meaning() const override { return parts_.meaning; }
  inference::Batch<float> minibatch(std::int64_t epoch, std::int64_t c) override;
  void began() override;
  void take_sample() override;
  void drop_samples(std::int64_t count) override;
  void end_epoch(runs::Records& records) override;
  double validate() override;
  void save_stream(Snapshot& snapshot) const override;
  void restore_stream(const Snapshot& snapshot) override;

  /// Calls see(shown) for all parts that have rows.
  template <class See>
  void for_each_shown(const See& see) {
    for (Shown* shown : {&train_, &validation_, &test_})
      if (shown->rows.count() > 0) see(*shown);
    if (plane_) see(*plane_);
  }
  /// The mean of a variational method, all particles, the weights.
  WeightDraws weights_as_they_are();
  /// What these say together.
  runs::ClassifierScore score_of_weights(Shown& shown);
  /// A chain's samples; else draws of a variational method, the particles, the weights.
  SampledClasses samples_at_end(Shown& shown);
  ClassifierResult result(Shown& shown, const SampledClasses& samples);

  LabelledParts parts_;
  std::int64_t classes_;
  Shown train_, validation_, test_;
  std::optional<Shown> plane_;
  std::optional<double> error_before_;
  Conclusion<ClassifierOutcome> concluded_;
  EpochOrder order_;
  std::vector<float> targets_;
};

}  // namespace stein::training
