#include <stein/bench/eigen_posterior.h>

#include <hwy/targets.h>
#include <algorithm>

namespace stein::bench {

EigenArithmetic eigen_baseline();
#if HWY_ARCH_X86_64
EigenArithmetic eigen_avx2();
EigenArithmetic eigen_avx512();
#endif

std::vector<EigenArithmetic> eigen_arithmetics() {
  std::vector<EigenArithmetic> found;
#if HWY_ARCH_X86_64
  if ((hwy::SupportedTargets() & HWY_AVX3) != 0) found.push_back(eigen_avx512());
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) found.push_back(eigen_avx2());
#endif
  found.push_back(eigen_baseline());
  return found;
}

EigenPosterior::EigenPosterior(const LogisticData& data, EigenArithmetic arithmetic)
    : arithmetic_(std::move(arithmetic)),
      rows_(data.rows),
      columns_(data.columns),
      inputs_(data.inputs.size()),
      signs_(data.answers.size()),
      odds_(data.answers.size()),
      rest_(data.answers.size()) {
  layout_.add("weights", {columns_}, inference::Role::weight);
  std::ranges::copy(data.inputs, inputs_.data());
  std::ranges::transform(data.answers, signs_.data(), [](double answer) { return 1 - 2 * answer; });
}

EigenRows EigenPosterior::rows() {
  return {.rows = rows_,
          .columns = columns_,
          .inputs = inputs_.data(),
          .signs = signs_.data(),
          .odds = odds_.data(),
          .rest = rest_.data()};
}

void EigenPosterior::evaluate(const inference::ParticleRows<const double>& coordinates, const inference::Batch<double>&,
                              const NoiseKey&, const inference::Evaluation<double>& wanted) {
  const auto gradient = wanted.gradient;
  const auto value = wanted.value;
  std::vector<double> not_asked(static_cast<std::size_t>(wanted.wants_gradient() ? 0 : columns_));
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    double* slope = wanted.wants_gradient() ? gradient.row(i).data() : not_asked.data();
    const double density = arithmetic_.log_density(rows(), coordinates.values.row(i).data(), slope);
    if (!value.empty()) value[i] = density;
  }
}

void EigenPosterior::products(std::span<const double> weights, std::span<double> slope) {
  arithmetic_.products(rows(), weights.data(), slope.data());
}

}  // namespace stein::bench
