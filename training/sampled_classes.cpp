#include <stein/core/error.h>
#include <stein/inference/diagnostics/calibration.h>
#include <stein/inference/diagnostics/chain_agreement.h>
#include <stein/training/sampled_classes.h>

#include <algorithm>

namespace stein::training {
namespace {

using inference::MatrixView;
using inference::Predictive;
using inference::Selection;

double error_of(MatrixView<const double> probabilities, std::span<const std::int64_t> labels) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < probabilities.rows; ++i) {
    const std::span<const double> row = probabilities.row(i);
    wrong += std::ranges::max_element(row) - row.begin() != labels[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(wrong) / static_cast<double>(probabilities.rows);
}

}  // namespace

runs::ClassifierScore score_of(MatrixView<const double> probabilities, std::span<const std::int64_t> labels) {
  return {.error = error_of(probabilities, labels),
          .log_likelihood = -inference::negative_log_likelihood(probabilities, labels),
          .ece = inference::expected_calibration_error(probabilities, labels),
          .brier = inference::brier_score(probabilities, labels)};
}

SampledClasses::SampledClasses(std::vector<std::int64_t> labels, std::int64_t classes)
    : labels_(std::move(labels)), classes_(classes) {}

MatrixView<const float> SampledClasses::sample(std::int64_t k) const {
  STEIN_CHECK(k >= 0 && k < samples_, "expected a sample from 0 to {}, got {}", samples_ - 1, k);
  return {logits_.data() + k * rows() * classes_, rows(), classes_};
}

Predictive SampledClasses::alone(std::int64_t k) const {
  Predictive one(inference::Likelihood::categorical, rows(), classes_);
  one.add(sample(k));
  return one;
}

void SampledClasses::add(MatrixView<const float> logits) {
  STEIN_CHECK(logits.rows == rows() && logits.columns == classes_, "expected logits [{}, {}], got [{}, {}]", rows(),
              classes_, logits.rows, logits.columns);
  for (std::int64_t i = 0; i < logits.rows; ++i) std::ranges::copy(logits.row(i), std::back_inserter(logits_));
  ++samples_;
}

void SampledClasses::drop_last(std::int64_t count) {
  STEIN_CHECK(count >= 0 && count <= samples_, "cannot drop {} of {} samples", count, samples_);
  samples_ -= count;
  if (count > 0) average_.reset();
  logits_.resize(static_cast<std::size_t>(samples_ * rows() * classes_));
}

const Predictive& SampledClasses::average() const {
  if (!average_) average_.emplace(inference::Likelihood::categorical, rows(), classes_);
  while (average_->draws() < samples_) average_->add(sample(average_->draws()));
  return *average_;
}

runs::ClassifierScore SampledClasses::averaged() const {
  return score_of(average().mean(), labels_);
}

runs::ClassifierScore SampledClasses::single() const {
  STEIN_CHECK(samples_ > 0, "there is no sample yet");
  runs::ClassifierScore mean;
  const double share = 1 / static_cast<double>(samples_);
  for (std::int64_t k = 0; k < samples_; ++k) {
    const runs::ClassifierScore score = score_of(alone(k).mean(), labels_);
    mean.error += share * score.error;
    mean.log_likelihood += share * score.log_likelihood;
    mean.ece += share * score.ece;
    mean.brier += share * score.brier;
  }
  return mean;
}

std::vector<double> SampledClasses::errors() const {
  std::vector<double> found;
  for (std::int64_t k = 0; k < samples_; ++k) found.push_back(error_of(alone(k).mean(), labels_));
  return found;
}

std::vector<double> SampledClasses::error_curve(Selection selection, std::int64_t at_most) const {
  std::vector<double> errors;
  Predictive growing(inference::Likelihood::categorical, rows(), classes_);
  for (std::int64_t count = 1; count <= std::min(samples_, at_most); ++count) {
    if (selection == Selection::thinned) {
      growing = Predictive(inference::Likelihood::categorical, rows(), classes_);
      for (const std::int64_t k : inference::selected(selection, count, samples_)) growing.add(sample(k));
    } else {
      growing.add(sample(selection == Selection::forward ? count - 1 : samples_ - count));
    }
    errors.push_back(error_of(growing.mean(), labels_));
  }
  return errors;
}

inference::Matrix<double> SampledClasses::traces(std::int64_t at_most) const {
  return inference::traces_of(rows(), samples_, at_most, [&](std::int64_t k, std::int64_t row) {
    const std::span<const float> logits = sample(k).row(row);
    const double most = std::ranges::max(logits);
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - most);
    const auto label = static_cast<std::size_t>(labels_[static_cast<std::size_t>(row)]);
    return static_cast<double>(logits[label]) - most - std::log(sum);
  });
}

void SampledClasses::save(Snapshot& snapshot) const {
  snapshot.put("samples", samples_);
  snapshot.put("logits", logits_);
}

void SampledClasses::restore(const Snapshot& snapshot) {
  average_.reset();
  samples_ = snapshot.get_scalar<std::int64_t>("samples");
  logits_ = snapshot.get_vector<float>("logits");
  if (std::ssize(logits_) != samples_ * rows() * classes_)
    fail(ErrorKind::data, "the checkpoint holds {} logits, expected {} samples of {} rows with {} classes",
         logits_.size(), samples_, rows(), classes_);
}

}  // namespace stein::training
