#include <stein/inference/storage/device_number.h>
#include <stein/inference/targets/variational_objective.h>
#include <stein/inference/weight_driver.h>

namespace stein::inference {
namespace {

/// The Gamma prior of learned noise precisions, where the family has the divergence of the weights to itself.
template <class Scalar>
class NoisePrecisionPrior final : public Prior<Scalar> {
 public:
  NoisePrecisionPrior(const GaussianPriorOptions& options, const Layout& coordinates, Device device)
      : gamma_(options.gamma), device_(device), driver_(weight_driver<Scalar>(device)) {
    STEIN_CHECK(!options.learn_weight_precision,
                "the weights of a variational family have a prior of fixed precision, expected it not to be learned");
    for (const LayoutEntry& entry : coordinates.entries())
      if (entry.role == Role::log_precision) places_.push_back(entry.offset);
  }
  void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const override {
    for (std::int64_t i = 0; i < rows.values.rows; ++i)
      for (const std::int64_t place : places_) {
        const LogGamma law = log_gamma_prior(gamma_, number_at(rows.values.row(i), place, device_));
        if (wanted.wants_gradient())
          driver_.shift(wanted.gradient.row(i).subspan(place, 1), static_cast<Scalar>(law.slope));
        if (wanted.wants_value()) wanted.value[i] += law.value;
      }
  }

 private:
  GammaPriorOptions gamma_;
  Device device_;
  const WeightDriver<Scalar>& driver_;
  std::vector<std::int64_t> places_;
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
  const Device device = model->device();
  std::unique_ptr<Prior<Scalar>> law;
  if (divergence == Divergence::closed_form) {
    law = std::make_unique<NoisePrecisionPrior<Scalar>>(checked(prior), family->coordinates(), device);
    family->include_gaussian_prior([&](const std::string& name) { return prior.precision_of_weight(name); });
  } else {
    law = std::make_unique<GaussianPrior<Scalar>>(checked(prior), family->weights(), std::vector<std::string>{},
                                                  PriorSpace::weights, device);
  }
  return with_prior(std::move(model), std::move(family), std::move(law));
}

template <class Scalar>
std::unique_ptr<Posterior<Scalar>> make_variational_objective(std::unique_ptr<Model<Scalar>> model,
                                                              std::unique_ptr<VariationalFamily<Scalar>> family,
                                                              const ScaleMixtureOptions& prior) {
  auto law = std::make_unique<ScaleMixturePrior<Scalar>>(prior, family->weights(), model->device());
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
