#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/prediction/predictive.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stein::inference {
namespace {

/// −p log p.
double surprise(double p) {
  return p > 0 ? -p * std::log(p) : 0;
}

/// Σ −p log p.
double entropy_of(std::span<const double> probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum += surprise(p);
  return sum;
}

/// The parameter of a model that stands for log γ, or null.
const LayoutEntry* noise_entry(const Layout& weights) {
  return weights.find("log_noise_precision");
}

}  // namespace

Predictive::Predictive(Likelihood likelihood, std::int64_t inputs, std::int64_t outputs)
    : likelihood_(likelihood), inputs_(inputs), outputs_(outputs) {
  STEIN_CHECK(inputs >= 1 && outputs >= 1, "predictive: expected at least one input and one output, got {} and {}",
              inputs, outputs);
  STEIN_CHECK(likelihood != Likelihood::categorical || outputs >= 2,
              "predictive: a categorical needs at least 2 classes, got {}", outputs);
  mean_.assign(static_cast<std::size_t>(inputs * outputs), 0);
  square_ = mean_;
  if (!gaussian()) mean_entropy_ = entropies(mean_);
}

void Predictive::to_probabilities(std::span<double> row) const {
  if (likelihood_ == Likelihood::bernoulli)
    for (double& x : row) x = x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  if (likelihood_ != Likelihood::categorical) return;
  const double highest = *std::ranges::max_element(row);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - highest);
  for (double& x : row) x /= sum;
}

std::vector<double> Predictive::entropies(const std::vector<double>& probabilities) const {
  std::vector<double> found;
  if (likelihood_ == Likelihood::bernoulli) {
    for (const double p : probabilities) found.push_back(surprise(p) + surprise(1 - p));
    return found;
  }
  for (std::int64_t i = 0; i < inputs_; ++i)
    found.push_back(entropy_of(
        std::span(probabilities).subspan(static_cast<std::size_t>(i * outputs_), static_cast<std::size_t>(outputs_))));
  return found;
}

template <class Scalar>
void Predictive::add(MatrixView<const Scalar> outputs, double noise_precision) {
  STEIN_CHECK(outputs.rows == inputs_ && outputs.columns == outputs_,
              "predictive: expected outputs [{}, {}], got [{}, {}]", inputs_, outputs_, outputs.rows, outputs.columns);
  STEIN_CHECK(!gaussian() || noise_precision > 0, "predictive: noise precision must be > 0, got {}", noise_precision);
  for (std::int64_t i = 0; i < inputs_; ++i)
    for (std::int64_t k = 0; k < outputs_; ++k)
      if (!std::isfinite(outputs(i, k)))
        fail(ErrorKind::numeric, "predictive: output {} of input {} is {} in draw {}", k, i, outputs(i, k), draws_);
  ++draws_;
  constexpr std::int64_t numbers_of_task = 1 << 14;
  parallel_blocks(inputs_, std::max<std::int64_t>(1, numbers_of_task / outputs_),
                  [&](std::int64_t begin, std::int64_t end) {
                    std::vector<double> draw(static_cast<std::size_t>(outputs_));
                    for (std::int64_t i = begin; i < end; ++i) {
                      std::ranges::copy(outputs.row(i), draw.begin());
                      to_probabilities(draw);
                      add_row(i, draw);
                    }
                  });
  if (gaussian()) noise_variance_ += (1 / noise_precision - noise_variance_) / static_cast<double>(draws_);
}

void Predictive::add_row(std::int64_t i, std::span<const double> draw) {
  const auto count = static_cast<double>(draws_);
  const auto first = static_cast<std::size_t>(i * outputs_);
  for (std::size_t k = 0; k < draw.size(); ++k) {
    const double off = draw[k] - mean_[first + k];
    mean_[first + k] += off / count;
    square_[first + k] += off * (draw[k] - mean_[first + k]);
    if (likelihood_ == Likelihood::bernoulli)
      mean_entropy_[first + k] += (surprise(draw[k]) + surprise(1 - draw[k]) - mean_entropy_[first + k]) / count;
  }
  if (likelihood_ != Likelihood::categorical) return;
  double& entropy = mean_entropy_[static_cast<std::size_t>(i)];
  entropy += (entropy_of(draw) - entropy) / count;
}

void Predictive::merge(const Predictive& other) {
  STEIN_CHECK(other.likelihood_ == likelihood_ && other.inputs_ == inputs_ && other.outputs_ == outputs_,
              "predictive: expected another of the same likelihood, {} inputs and {} outputs, got {} and {}", inputs_,
              outputs_, other.inputs_, other.outputs_);
  if (other.draws_ == 0) return;
  const auto own = static_cast<double>(draws_), added = static_cast<double>(other.draws_), together = own + added;
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    const double apart = other.mean_[j] - mean_[j];
    mean_[j] += apart * added / together;
    square_[j] += other.square_[j] + apart * apart * own * added / together;
  }
  for (std::size_t j = 0; j < mean_entropy_.size(); ++j)
    mean_entropy_[j] += (other.mean_entropy_[j] - mean_entropy_[j]) * added / together;
  noise_variance_ += (other.noise_variance_ - noise_variance_) * added / together;
  draws_ += other.draws_;
}

void Predictive::check_any_draw() const {
  STEIN_CHECK(draws_ > 0, "predictive: no draw was added yet");
}

MatrixView<const double> Predictive::mean() const {
  check_any_draw();
  return {mean_.data(), inputs_, outputs_};
}

std::vector<double> Predictive::deviation() const {
  check_any_draw();
  std::vector<double> found = square_;
  for (double& x : found) x = std::sqrt(x / static_cast<double>(draws_));
  return found;
}

std::vector<double> Predictive::aleatoric_deviation() const {
  check_any_draw();
  STEIN_CHECK(gaussian(), "predictive: only a Gaussian has noise beside its mean; ask for entropies");
  return std::vector<double>(mean_.size(), std::sqrt(noise_variance_));
}

std::vector<double> Predictive::total_deviation() const {
  const std::vector<double> aleatoric = aleatoric_deviation();
  std::vector<double> found = deviation();
  for (std::size_t j = 0; j < found.size(); ++j) found[j] = std::hypot(found[j], aleatoric[j]);
  return found;
}

std::vector<double> Predictive::entropy() const {
  check_any_draw();
  STEIN_CHECK(!gaussian(), "predictive: a Gaussian has standard deviations in place of entropies");
  return entropies(mean_);
}

std::vector<double> Predictive::mutual_information() const {
  std::vector<double> found = entropy();
  for (std::size_t j = 0; j < found.size(); ++j) found[j] = std::max(0.0, found[j] - mean_entropy_[j]);  // Jensen
  return found;
}

void Predictive::save(Snapshot& snapshot) const {
  snapshot.put("shape", std::vector<std::int64_t>{static_cast<std::int64_t>(likelihood_), inputs_, outputs_});
  snapshot.put("draws", draws_);
  snapshot.put("mean", mean_);
  snapshot.put("square", square_);
  snapshot.put("mean_entropy", mean_entropy_);
  snapshot.put("noise_variance", noise_variance_);
}

void Predictive::restore(const Snapshot& snapshot) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(likelihood_), inputs_, outputs_};
  if (snapshot.get_vector<std::int64_t>("shape") != shape)
    fail(ErrorKind::data, "the saved predictions are of another likelihood or shape, expected [{}, {}]", inputs_,
         outputs_);
  snapshot.get("mean", std::span<double>(mean_));
  snapshot.get("square", std::span<double>(square_));
  snapshot.get("mean_entropy", std::span<double>(mean_entropy_));
  noise_variance_ = snapshot.get_scalar<double>("noise_variance");
  draws_ = snapshot.get_scalar<std::int64_t>("draws");
}

double entropy_gap(const Predictive& other, const Predictive& test) {
  const auto average = [](const Predictive& predictive) {
    const std::vector<double> entropy = predictive.entropy();
    return std::accumulate(entropy.begin(), entropy.end(), 0.0) / static_cast<double>(entropy.size());
  };
  return average(other) - average(test);
}

template <class Scalar>
void add_predictions(Predictive& predictive, Posterior<Scalar>& posterior,
                     const ParticleRows<const Scalar>& coordinates, const Inputs<Scalar>& inputs, const NoiseKey& noise,
                     double noise_precision) {
  Model<Scalar>& model = posterior.model();
  const std::int64_t samples = posterior.weight_samples();
  const std::int64_t outputs = model.output_count(), count = model.output_rows(inputs);
  inputs.carried.check(coordinates.values.rows * samples, model.carried_size(inputs));
  // Some draws at a time, for all cores; the weight samples of one row share its buffers.
  const bool together = model.concurrent() && (samples == 1 || coordinates.buffers.empty());
  const std::int64_t rows = coordinates.values.rows, most = together ? std::min<std::int64_t>(rows, 16) : 1;
  Matrix<Scalar> memory;
  std::vector<Scalar> predicted(static_cast<std::size_t>(most * samples * count * outputs));
  const LayoutEntry* precision = noise_entry(posterior.weight_layout());
  for (std::int64_t first = 0; first < rows; first += most) {
    const std::int64_t draws = std::min(most, rows - first) * samples;
    const ParticleRows<const Scalar> some = coordinates.block(first, draws / samples);
    const MatrixView<const Scalar> weights = posterior.weights_of(some, noise, memory);
    const MatrixView<Scalar> all{predicted.data(), draws * count, outputs};
    MatrixView<const Scalar> buffers = some.buffers;
    if (samples > 1 && !buffers.empty()) buffers = {buffers.data, samples, buffers.columns, 0};
    Inputs<Scalar> own = inputs;
    own.carried = inputs.carried.block(first * samples, draws);
    model.predict({weights, some.first_row * samples, buffers}, own, all);
    for (std::int64_t s = 0; s < draws; ++s) {
      const double gamma =
          precision == nullptr ? noise_precision : std::exp(static_cast<double>(weights(s, precision->offset)));
      predictive.add<Scalar>(all.block(s * count, count), gamma);
    }
  }
}

template void Predictive::add(MatrixView<const float>, double);
template void Predictive::add(MatrixView<const double>, double);
template void add_predictions(Predictive&, Posterior<float>&, const ParticleRows<const float>&, const Inputs<float>&,
                              const NoiseKey&, double);
template void add_predictions(Predictive&, Posterior<double>&, const ParticleRows<const double>&, const Inputs<double>&,
                              const NoiseKey&, double);

}  // namespace stein::inference
