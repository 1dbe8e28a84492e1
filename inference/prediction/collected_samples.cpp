#include <stein/inference/prediction/collected_samples.h>

namespace stein::inference {

template <class Scalar>
CollectedSamples<Scalar>::CollectedSamples(Layout layout, std::int64_t rows) : layout_(std::move(layout)), rows_(rows) {
  STEIN_CHECK(rows >= 1, "samples: expected at least one particle, got {}", rows);
}

template <class Scalar>
void CollectedSamples<Scalar>::add(const Particles<Scalar>& particles) {
  STEIN_CHECK(particles.rows() == rows_ && particles.size() == layout_.size() &&
                  particles.layout().buffer_size() == layout_.buffer_size(),
              "samples: expected {} particles of {} coordinates and {} buffers, got {} of {} and {}", rows_,
              layout_.size(), layout_.buffer_size(), particles.rows(), particles.size(),
              particles.layout().buffer_size());
  if (size_ == 0) first_row_ = particles.first_row();
  STEIN_CHECK(particles.first_row() == first_row_,
              "samples: expected particles from row {} on, got those from row {} on", first_row_,
              particles.first_row());
  for (std::int64_t i = 0; i < rows_; ++i) {
    const auto values = particles.values().row(i), buffers = particles.buffers().row(i);
    values_.insert(values_.end(), values.begin(), values.end());
    buffers_.insert(buffers_.end(), buffers.begin(), buffers.end());
  }
  ++size_;
}

template <class Scalar>
void CollectedSamples<Scalar>::drop_last(std::int64_t count) {
  STEIN_CHECK(count >= 0 && count <= size_, "samples: expected to drop 0 to {}, got {}", size_, count);
  size_ -= count;
  values_.resize(static_cast<std::size_t>(size_ * rows_ * layout_.size()));
  buffers_.resize(static_cast<std::size_t>(size_ * rows_ * layout_.buffer_size()));
}

template <class Scalar>
ParticleRows<const Scalar> CollectedSamples<Scalar>::all() const {
  const std::int64_t rows = size_ * rows_;
  return {.values = {values_.data(), rows, layout_.size()},
          .first_row = first_row_,
          .buffers = {buffers_.data(), rows, layout_.buffer_size()}};
}

template <class Scalar>
ParticleRows<const Scalar> CollectedSamples<Scalar>::sample(std::int64_t k) const {
  STEIN_CHECK(k >= 0 && k < size_, "samples: expected a sample of 0 to {}, got {}", size_ - 1, k);
  ParticleRows<const Scalar> rows = all().block(k * rows_, rows_);
  rows.first_row = first_row_;
  return rows;
}

template <class Scalar>
std::vector<double> CollectedSamples<Scalar>::draws(std::int64_t q) const {
  STEIN_CHECK(q >= 0 && q < layout_.size(), "samples: expected a coordinate of 0 to {}, got {}", layout_.size() - 1, q);
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(size_ * rows_));
  for (std::int64_t i = 0; i < rows_; ++i)
    for (std::int64_t k = 0; k < size_; ++k) numbers.push_back(static_cast<double>(all().values(k * rows_ + i, q)));
  return numbers;
}

template <class Scalar>
void CollectedSamples<Scalar>::save(Snapshot& snapshot) const {
  snapshot.put_text("layout", layout_.description());
  snapshot.put("counts", std::vector<std::int64_t>{rows_, first_row_, size_});
  snapshot.put("values", std::span<const Scalar>(values_), {size_ * rows_, layout_.size()});
  snapshot.put("buffers", std::span<const Scalar>(buffers_), {size_ * rows_, layout_.buffer_size()});
}

template <class Scalar>
void CollectedSamples<Scalar>::restore(const Snapshot& snapshot) {
  layout_.check_description(snapshot.get_text("layout"));
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  if (counts.size() != 3 || counts[2] < 0)
    fail(ErrorKind::data, "the saved samples have no counts of particles and samples");
  if (counts[0] != rows_) fail(ErrorKind::data, "the saved samples are of {} particles, expected {}", counts[0], rows_);
  std::vector<Scalar> values(static_cast<std::size_t>(counts[2] * rows_ * layout_.size()));
  std::vector<Scalar> buffers(static_cast<std::size_t>(counts[2] * rows_ * layout_.buffer_size()));
  snapshot.get("values", std::span<Scalar>(values));
  snapshot.get("buffers", std::span<Scalar>(buffers));
  first_row_ = counts[1], size_ = counts[2];
  values_ = std::move(values), buffers_ = std::move(buffers);
}

template class CollectedSamples<float>;
template class CollectedSamples<double>;

}  // namespace stein::inference
