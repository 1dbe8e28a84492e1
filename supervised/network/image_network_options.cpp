#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/models/perceptron_model.h>
#include <stein/inference/targets/reference_arithmetic.h>
#include <stein/supervised/network/image_network_options.h>
#include <stein/supervised/network/network_name.h>

#include <algorithm>

namespace stein::supervised {
namespace {

inference::MlpSpec perceptron_of(const ImageNetworkOptions& options) {
  return {.inputs = options.spec.pixels(),
          .hidden = options.spec.hidden,
          .outputs = options.spec.classes,
          .activation = options.activation,
          .likelihood = inference::Likelihood::categorical,
          .precision = options.spec.precision};
}

}  // namespace

std::string ImageNetworkOptions::name() const {
  if (spec.network != inference::ImageNetwork::perceptron) return std::string(image_network_name(spec.network));
  return network_name(perceptron_of(*this));
}

std::unique_ptr<inference::Model<float>> ImageNetworkOptions::make_model(inference::Arithmetic arithmetic,
                                                                         inference::Device device,
                                                                         std::int64_t networks) const {
  const bool perceptron = spec.network == inference::ImageNetwork::perceptron;
  if (perceptron && spec.dropout == 0)
    return inference::make_perceptron_model(perceptron_of(*this), arithmetic, device);
  STEIN_CHECK(!perceptron || activation == inference::Activation::relu,
              "a perceptron with dropout has activation=relu, got tanh");
  STEIN_CHECK(device != inference::Device{} || spec.precision == inference::Precision::single,
              "option 'precision': of image networks bfloat16 and tf32 are of a GPU, expected single with device=cpu");
  const inference::ReferenceArithmetic& torch = inference::torch_arithmetic();
  torch.set_threads(static_cast<int>(std::max<std::int64_t>(1, thread_count() / networks)));
  return torch.make_image_network(spec, device);
}

}  // namespace stein::supervised
