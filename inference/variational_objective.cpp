#include <stein/inference/variational_objective.h>

namespace stein::inference {
namespace {

/// E_q log p of a Gaussian prior, over the coordinates of the family.
template <class Scalar>
class ExpectedGaussianPrior final : public Prior<Scalar> {
 public:
  /// @param family  must outlive this
  ExpectedGaussianPrior(const GaussianPriorOptions& options, const VariationalFamily<Scalar>& family)
      : options_(options), family_(family) {
    STEIN_CHECK(!options.learn_weight_precision,
                "the weights of a variational family have a prior of fixed precision, expected it not to be learned");
    for (const LayoutEntry& entry : family.coordinates().entries())
      if (entry.role == Role::log_precision) noise_precisions_.push_back(entry.offset);
  }
  void add_gradient(const ParticleRows<const Scalar>& rows, MatrixView<Scalar> gradient,
                    std::span<Scalar> value) const override {
    const MatrixView<const Scalar> values = rows.values;
    family_.add_expected_gaussian(options_.weight_precision, values, gradient, value);
    for (std::int64_t i = 0; i < values.rows; ++i)
      for (const std::int64_t place : noise_precisions_) {
        const LogGamma law = log_gamma_prior(options_.gamma, static_cast<double>(values(i, place)));
        gradient(i, place) += static_cast<Scalar>(law.slope);
        if (!value.empty()) value[i] += static_cast<Scalar>(law.value);
      }
  }

 private:
  GaussianPriorOptions options_;
  const VariationalFamily<Scalar>& family_;
  std::vector<std::int64_t> noise_precisions_;
};

template <class Scalar>
std::unique_ptr<Posterior<Scalar>> with_prior(std::unique_ptr<Model<Scalar>> model,
                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                              std::unique_ptr<Prior<Scalar>> prior) {
  std::vector<std::unique_ptr<Prior<Scalar>>> priors;
  priors.push_back(std::move(prior));
  return std::make_unique<Posterior<Scalar>>(std::move(model), std::move(family), std::move(priors));
}

}  // namespace

template <class Scalar>
std::unique_ptr<Posterior<Scalar>> make_variational_objective(std::unique_ptr<Model<Scalar>> model,
                                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                                              const GaussianPriorOptions& prior,
                                                              Divergence divergence) {
  std::unique_ptr<Prior<Scalar>> law;
  if (divergence == Divergence::closed_form)
    law = std::make_unique<ExpectedGaussianPrior<Scalar>>(checked(prior), *family);
  else
    law = std::make_unique<GaussianPrior<Scalar>>(checked(prior), family->weights(), std::vector<std::string>{},
                                                  PriorSpace::weights);
  return with_prior(std::move(model), std::move(family), std::move(law));
}

template <class Scalar>
std::unique_ptr<Posterior<Scalar>> make_variational_objective(std::unique_ptr<Model<Scalar>> model,
                                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                                              const ScaleMixtureOptions& prior) {
  auto law = std::make_unique<ScaleMixturePrior<Scalar>>(prior, family->weights());
  return with_prior<Scalar>(std::move(model), std::move(family), std::move(law));
}

template std::unique_ptr<Posterior<float>> make_variational_objective(std::unique_ptr<Model<float>>,
                                                                      std::unique_ptr<VariationalFamily<float>>,
                                                                      const GaussianPriorOptions&, Divergence);
template std::unique_ptr<Posterior<float>> make_variational_objective(std::unique_ptr<Model<float>>,
                                                                      std::unique_ptr<VariationalFamily<float>>,
                                                                      const ScaleMixtureOptions&);
template std::unique_ptr<Posterior<double>> make_variational_objective(std::unique_ptr<Model<double>>,
                                                                       std::unique_ptr<VariationalFamily<double>>,
                                                                       const GaussianPriorOptions&, Divergence);
template std::unique_ptr<Posterior<double>> make_variational_objective(std::unique_ptr<Model<double>>,
                                                                       std::unique_ptr<VariationalFamily<double>>,
                                                                       const ScaleMixtureOptions&);

}  // namespace stein::inference
