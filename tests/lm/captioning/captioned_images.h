// Captions of a few made-up images, and networks that know them.
#pragma once

#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/captioning/caption_vocabulary.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::test {

/// Images of two features each, whose captions say what the features are: 1 is "red", 0 "blue"; "ball" or "box".
inline lm::CaptionData small_images(std::int64_t count) {
  lm::CaptionData data{.name = "small", .synthetic = true};
  data.features = inference::Matrix<float>(3 * count, 2);
  std::int64_t row = 0;
  for (auto* part : {&data.train, &data.validation, &data.test})
    for (std::int64_t i = 0; i < count; ++i, ++row) {
      const bool red = i % 2 == 0, ball = i % 3 == 0;
      data.features.row(row)[0] = red ? 1.0F : 0.0F;
      data.features.row(row)[1] = ball ? 1.0F : 0.0F;
      const std::string what = std::string(red ? "red " : "blue ") + (ball ? "ball" : "box");
      part->push_back({"image-" + std::to_string(row), row, {"a " + what, "there is a " + what + " here"}});
    }
  return data;
}

/// A network of captions with random weights.
inline inference::RecurrentSpec small_network(std::int64_t vocabulary, inference::FeatureUse use) {
  return {.vocabulary = vocabulary, .hidden = 6, .layers = 2, .features = 2, .feature_use = use, .start_range = 0.8};
}

/// Rows of random weights of a network.
inline inference::Matrix<float> random_weights(const inference::Model<float>& model, std::int64_t rows) {
  inference::Matrix<float> weights(rows, model.layout().size());
  for (std::int64_t i = 0; i < rows; ++i) model.draw_start(weights.row(i), 1, i);
  return weights;
}

}  // namespace stein::test
