// Trains a convolutional network on made-up pictures of coloured shapes, and writes its last hidden layer as features
// of the set `scenes` for captioning models. `example_scene_features FILE` makes the features that come with Stein, in
// a few minutes (OMP_NUM_THREADS=1 where other programs use the cores too); without arguments the same is tried out for
// a few seconds, and ends with 1 if the network learns nothing.
#include <stein/inference/samplers/optimizer.h>
#include <stein/lm/scenes/scene_features.h>
#include <stein/lm/scenes/scene_image.h>
#include <stein/torch/module_posterior.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace stein::inference;
using namespace stein::lm;

namespace {

constexpr std::int64_t pixel_count = 3 * picture_pixels * picture_pixels, feature_count = 96;

/// What the network is to say of a picture, yes or no: whether there is an object with two properties, for every two
/// values of shape and colour, size and colour, shape and size, and of either shape or colour and a third of the
/// picture from left to right or from top to bottom; and which number of objects there is.
struct Labels {
  std::vector<float> values;

  explicit Labels(const Scene& scene) {
    const auto third = [](double place) { return std::min(static_cast<int>(3 * place / picture_width), 2); };
    const auto add = [&](int count, const auto& number_of) {
      const std::size_t first = values.size();
      values.resize(first + static_cast<std::size_t>(count));
      for (const SceneObject& object : scene.objects) values[first + static_cast<std::size_t>(number_of(object))] = 1;
    };
    const auto shape = [](const SceneObject& object) { return static_cast<int>(object.shape); };
    const auto colour = [](const SceneObject& object) { return static_cast<int>(object.colour); };
    const auto size = [](const SceneObject& object) { return static_cast<int>(object.size); };
    const auto column = [&](const SceneObject& object) { return third(object.x); };
    const auto row = [&](const SceneObject& object) { return third(object.y); };
    add(shape_count * colour_count, [&](const auto& object) { return shape(object) * colour_count + colour(object); });
    add(size_count * colour_count, [&](const auto& object) { return size(object) * colour_count + colour(object); });
    add(shape_count * size_count, [&](const auto& object) { return shape(object) * size_count + size(object); });
    add(3 * colour_count, [&](const auto& object) { return column(object) * colour_count + colour(object); });
    add(3 * colour_count, [&](const auto& object) { return row(object) * colour_count + colour(object); });
    add(3 * shape_count, [&](const auto& object) { return column(object) * shape_count + shape(object); });
    add(3 * shape_count, [&](const auto& object) { return row(object) * shape_count + shape(object); });
    add(3, [&](const auto&) { return static_cast<int>(scene.objects.size()) - 1; });
  }
};

/// Three convolutions, each followed by pooling, and a hidden layer.
struct SceneNetwork : torch::nn::Module {
  static torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
  }
  torch::nn::Conv2d first = register_module("first", convolution(3, 24));
  torch::nn::Conv2d second = register_module("second", convolution(24, 48));
  torch::nn::Conv2d third = register_module("third", convolution(48, 64));
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(64 * 4 * 4, feature_count));
  torch::nn::Linear head;

  explicit SceneNetwork(std::int64_t label_count)
      : head(register_module("head", torch::nn::Linear(feature_count, label_count))) {}

  /// [n, pixels] to [n, F].
  at::Tensor features(const at::Tensor& pictures) {
    at::Tensor x = pictures.reshape({-1, 3, picture_pixels, picture_pixels});
    for (torch::nn::Conv2d* layer : {&first, &second, &third}) x = at::max_pool2d((*layer)->forward(x).relu(), 2);
    return hidden->forward(x.flatten(1)).tanh();  // between −1 and 1: a byte for each is enough
  }
};

/// Pictures and labels of scenes.
struct Pictures {
  std::vector<std::uint8_t> pixels;  ///< [n, pixels]
  std::vector<float> labels;         ///< [n, L]
  std::int64_t count = 0, label_count = 0;

  void add(const Scene& scene, std::uint64_t seed, std::uint32_t index) {
    const std::vector<std::uint8_t> picture = draw_picture(scene, seed, index);
    const Labels wanted(scene);
    pixels.insert(pixels.end(), picture.begin(), picture.end());
    labels.insert(labels.end(), wanted.values.begin(), wanted.values.end());
    label_count = std::ssize(wanted.values), ++count;
  }
};

/// Rows of pictures as numbers from −1 to 1, with their labels.
struct Minibatch {
  std::vector<float> pixels, labels;
  std::int64_t count = 0;

  void add(const Pictures& pictures, std::int64_t i) {
    const auto pixel = pictures.pixels.begin() + i * pixel_count;
    const auto label = pictures.labels.begin() + i * pictures.label_count;
    std::transform(pixel, pixel + pixel_count, std::back_inserter(pixels),
                   [](std::uint8_t byte) { return static_cast<float>(byte) / 127.5F - 1; });
    labels.insert(labels.end(), label, label + pictures.label_count);
    ++count;
  }
  Inputs<float> inputs() const { return {.dense = {pixels.data(), count, pixel_count}}; }
};

/// How well some labels are told: which share of those that are "yes" the network says (recall), and which share of
/// those that it says are "yes" (precision).
struct Score {
  double yes = 0, said = 0, right = 0;

  void add(float label, float logit) { yes += label, said += logit > 0 ? 1 : 0, right += logit > 0 ? label : 0; }
  double recall() const { return right / std::max(yes, 1.0); }
  double precision() const { return right / std::max(said, 1.0); }
};

struct Size {
  std::uint32_t training_pictures;
  int steps;
  SceneSetOptions set;
};

}  // namespace

int main(int argc, char** argv) {
  const bool in_full = argc > 1;
  const std::string file = in_full ? argv[1] : "scene_features.safetensors";
  const Size size = in_full ? Size{40'000, 8000, {}} : Size{1000, 120, {.train = 40, .validation = 10, .test = 150}};
  constexpr std::uint64_t training_seed = 1;  // the set has another one: its pictures are all new to the network

  Pictures training, set_pictures;
  for (std::uint32_t i = 0; i < size.training_pictures; ++i)
    training.add(draw_scene(training_seed, i), training_seed, i);
  const SceneSet set = draw_scene_set(size.set);
  for (const NumberedScene& scene : set.all()) set_pictures.add(scene.scene, set.seed, scene.index);

  const auto network = std::make_shared<SceneNetwork>(training.label_count);
  const auto logits = [&](const Inputs<float>& inputs) {
    return network->head->forward(network->features(tensor_view(inputs.dense)));
  };
  const auto log_likelihood = [&](const Batch<float>& batch) {
    return -at::binary_cross_entropy_with_logits(logits(batch.inputs), tensor_view(batch.targets), {}, {},
                                                 at::Reduction::Sum);
  };
  // What is predicted is the hidden layer, and behind it the logits.
  const auto outputs = [&](const Inputs<float>& inputs) {
    const at::Tensor features = network->features(tensor_view(inputs.dense));
    return at::cat({features, network->head->forward(features)}, 1);
  };
  const std::int64_t output_count = feature_count + training.label_count;
  const auto posterior = make_module_posterior(
      network, {.log_likelihood = log_likelihood, .outputs = outputs, .output_count = output_count});

  Particles<float> weights = posterior->initial_particles(1, 1, std::sqrt(2.0));
  Optimizer<float> adam({.step = {.step_size = 3e-3, .cycle_steps = size.steps}}, weights.ensemble(1));
  for (int step = 0; step < size.steps; ++step) {
    Minibatch rows;
    stein::Draws draws({.seed = training_seed, .stream = stein::Stream::minibatch}, static_cast<std::uint32_t>(step));
    while (rows.count < 64) rows.add(training, draws.integer(size.training_pictures));
    Batch<float> batch{.inputs = rows.inputs(), .targets = {rows.labels.data(), rows.count, training.label_count}};
    batch.rows = rows.count;
    batch.data_size = size.training_pictures;
    adam.step(weights, *posterior, batch);
    if (step % 500 == 499) std::fprintf(stderr, "%d of %d steps\n", step + 1, size.steps);
  }

  std::vector<float> features;
  Score pairs, all;
  for (std::int64_t i = 0; i < set_pictures.count; ++i) {
    Minibatch rows;
    rows.add(set_pictures, i);
    std::vector<float> out(static_cast<std::size_t>(output_count));
    posterior->model().predict(weights.coordinates(), rows.inputs(), {out.data(), 1, output_count});
    features.insert(features.end(), out.begin(), out.begin() + feature_count);
    if (i < std::ssize(set.train) + std::ssize(set.validation)) continue;
    for (std::int64_t label = 0; label < training.label_count; ++label) {
      const float wanted = rows.labels[static_cast<std::size_t>(label)],
                  logit = out[static_cast<std::size_t>(feature_count + label)];
      all.add(wanted, logit);
      if (label < shape_count * colour_count) pairs.add(wanted, logit);
    }
  }
  write_scene_features(file, {features.data(), set_pictures.count, feature_count}, set);
  const Matrix<float> read = read_scene_features(file, set);

  std::printf("%lld weights, %lld labels, %lld scenes to '%s'\n", static_cast<long long>(weights.size()),
              static_cast<long long>(training.label_count), static_cast<long long>(read.rows()), file.c_str());
  std::printf("test scenes, shape and colour together: recall %.3f, precision %.3f\n", pairs.recall(),
              pairs.precision());
  std::printf("test scenes, all labels: recall %.3f, precision %.3f\n", all.recall(), all.precision());
  return all.recall() > 0.02 && all.precision() > 0.5 ? 0 : 1;  // one in eight labels is "yes"
}
