#include <stein/inference/storage/device_number.h>
#include <stein/supervised/regression/row_regressor.h>

#include <cmath>

namespace stein::supervised {

void RowRegressor::add_sample(inference::Model<float>& model, const training::WeightDraws::Draw& draw,
                              SampledNumbers& to) {
  outputs_.resize(static_cast<std::size_t>(count()));
  const inference::MatrixView<float> outputs{outputs_.data(), count(), 1};
  inference::Inputs<float> inputs;
  inputs.dense = rows_.inputs.view();
  model.predict(draw.weights, inputs, outputs);
  const inference::LayoutEntry* const learned = model.layout().find("log_noise_precision");
  const double precision =
      learned == nullptr
          ? noise_precision_
          : std::exp(inference::number_at<float>(draw.weights.values.row(0), learned->offset, model.device()));
  to.add(outputs, precision);
}

SampledNumbers RowRegressor::predict(inference::Model<float>& model, training::WeightDraws& draws) {
  SampledNumbers samples = no_samples();
  for (std::int64_t k = 0; k < draws.count(); ++k) add_sample(model, draws.get(k), samples);
  return samples;
}

}  // namespace stein::supervised
