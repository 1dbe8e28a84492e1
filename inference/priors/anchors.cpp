#include <stein/core/error.h>
#include <stein/inference/priors/anchors.h>

namespace stein::inference {

template <class Scalar>
Anchors<Scalar>::Anchors(const GaussianPriorOptions& prior, const Particles<Scalar>& anchors, Device device)
    : driver_(driver<Scalar>(Ensemble{.device = device})),
      first_row_(anchors.first_row()),
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
  if (device != Device{}) pull_ = pull_.to(device);
}

template <class Scalar>
void Anchors<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const {
  const std::int64_t first = rows.first_row - first_row_;
  const MatrixView<const Scalar> pull = pull_.view().block(first, rows.values.rows);
  const ScaledRun<Scalar> added{0, pull.columns, Scalar{-1}};
  if (wanted.wants_gradient()) driver_.subtract_runs(pull, {&added, 1}, wanted.gradient);
  for (std::int64_t i = 0; wanted.wants_value() && i < pull.rows; ++i) {
    double sum = constant_[static_cast<std::size_t>(first + i)];
    driver_.add_products(pull.row(i), rows.values.row(i).first(static_cast<std::size_t>(pull.columns)), sum);
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
