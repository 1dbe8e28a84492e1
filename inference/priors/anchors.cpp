#include <stein/core/error.h>
#include <stein/inference/priors/anchors.h>

namespace stein::inference {

template <class Scalar>
Anchors<Scalar>::Anchors(const GaussianPriorOptions& prior, const Particles<Scalar>& anchors)
    : first_row_(anchors.first_row()),
      pull_(anchors.rows(), anchors.size()),
      constant_(static_cast<std::size_t>(anchors.rows())) {
  STEIN_CHECK(!prior.learn_weight_precision && !prior.learn_reflector_precision,
              "anchors need a prior of fixed precision, expected none to be learned");
  for (const LayoutEntry& entry : anchors.layout().entries()) {
    const double precision = prior.precision_of(entry);
    if (precision == 0) continue;
    for (std::int64_t i = 0; i < anchors.rows(); ++i)
      for (std::int64_t q = entry.offset; q < entry.offset + entry.size(); ++q) {
        const double centre = entry.centre(), moved = static_cast<double>(anchors.values()(i, q));
        pull_.view()(i, q) = static_cast<Scalar>(precision * (moved - centre));
        constant_[static_cast<std::size_t>(i)] -= precision / 2 * (moved * moved - centre * centre);
      }
  }
}

template <class Scalar>
void Anchors<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const {
  for (std::int64_t i = 0; i < rows.values.rows; ++i) {
    const std::int64_t anchor = rows.first_row + i - first_row_;
    const Scalar* const pull = pull_.row(anchor).data();
    if (wanted.wants_gradient()) {
      Scalar* const gradient = wanted.gradient.row(i).data();
      for (std::int64_t q = 0; q < pull_.columns(); ++q) gradient[q] += pull[q];
    }
    if (!wanted.wants_value()) continue;
    double sum = constant_[static_cast<std::size_t>(anchor)];
    for (std::int64_t q = 0; q < pull_.columns(); ++q)
      sum += static_cast<double>(pull[q]) * static_cast<double>(rows.values(i, q));
    wanted.value[i] += sum;
  }
}

template <class Scalar>
void Anchors<Scalar>::save(Snapshot& snapshot) const {
  pull_.save(snapshot, "pull");
  snapshot.put("constant", constant_);
}

template <class Scalar>
void Anchors<Scalar>::restore(const Snapshot& snapshot) {
  pull_.restore(snapshot, "pull");
  snapshot.get("constant", std::span(constant_));
}

template class Anchors<float>;
template class Anchors<double>;

}  // namespace stein::inference
