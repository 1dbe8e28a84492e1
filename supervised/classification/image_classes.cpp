#include <stein/core/error.h>
#include <stein/runs/run_kind.h>
#include <stein/supervised/classification/class_names.h>
#include <stein/supervised/classification/class_notices.h>
#include <stein/supervised/classification/image_class_presets.h>
#include <stein/supervised/classification/image_classes.h>
#include <stein/supervised/images/image_method.h>
#include <stein/supervised/images/image_split.h>
#include <stein/training/classifier_run.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace stein::supervised {
namespace {

training::EpochOptions image_training() {
  return {.batch_size = 100, .epochs = 20, .burn_in = 0.5, .samples_per_epoch = 1};
}

}  // namespace

ImageClassExperiment::ImageClassExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : ClassifierExperiment(kind, sources, published(), /*checkpoint_every=*/1'000'000),
      images_(named_images(sources)),
      training_(image_training()) {
  adapt_to_images(method_options());
  add_sampler(training::NetworkInputs::rows);
  add_part("Images", [this](OptionTable& table) {
    images_.describe(table);
    table(
        "normalisation", normalisation_,
        "pixels are shares of 255, less a mean and divided by an sd: of all pixels of the training images, colour by "
        "colour; of the pixels in each place; of those in each place of the minibatch, where it is learned (elsewhere "
        "as places); the published ones of MNIST, .1307 and .3081; or 0 and 1",
        {{"all", Normalisation::all},
         {"places", Normalisation::places},
         {"minibatch", Normalisation::minibatch},
         {"published", Normalisation::published},
         {"none", Normalisation::none}});
    augmentation_.describe(table);
  });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, images_.data, images_.is_file());
  STEIN_CHECK(!method().takes_all_data || (network_.spec.network == inference::ImageNetwork::perceptron &&
                                           network_.spec.dropout == 0 && !augmentation_.changes()),
              "sampler {} looks at the same images in every step, all at a time: with network=perceptron, without "
              "dropout, and without changes of the images",
              method_name());
}

ImageClassExperiment::Published ImageClassExperiment::published() {
  return {image_class_presets(), "classifiers of images", image_method};
}

bool ImageClassExperiment::recognises(const runs::OptionSources& sources) {
  const std::string data = sources.look_ahead("data", "");
  if (data.empty()) return training::is_preset(image_class_presets(), sources.preset);
  return image_sets().entries().contains(data) || training::means_images(data);
}

ImageOptions ImageClassExperiment::named_images(const runs::OptionSources& sources) {
  ImageOptions options;
  options.data = named_data(sources, published(), options.data);
  options.test_data = sources.look_ahead("test_data", "");
  return options;
}

void ImageClassExperiment::Meaning::save(Snapshot& snapshot) const {
  snapshot.put("shape", std::vector<std::int64_t>{shape.channels, shape.height, shape.width});
  snapshot.put("means", scale.mean);
  snapshot.put("deviations", scale.deviation);
  save_class_names(classes, snapshot);
}

ImageClassExperiment::Meaning ImageClassExperiment::Meaning::saved_in(const Snapshot& snapshot) {
  const auto shape = snapshot.get_vector<std::int64_t>("shape");
  if (shape.size() != 3) fail(ErrorKind::data, "what the checkpoint says of its images cannot be read");
  return {
      .shape = {.channels = shape[0], .height = shape[1], .width = shape[2]},
      .scale = {.mean = snapshot.get_vector<double>("means"), .deviation = snapshot.get_vector<double>("deviations")},
      .classes = saved_class_names(snapshot)};
}

void ImageClassExperiment::Meaning::check_shape(const ImageSet& set) const {
  if (set.shape != shape)
    fail(ErrorKind::data, "the images of '{}' are {} x {} in {} channels, the network reads {} x {} in {}", set.name,
         set.shape.height, set.shape.width, set.shape.channels, shape.height, shape.width, shape.channels);
}

ImageNetworkOptions ImageClassExperiment::network(const ImageShape& shape, std::int64_t classes) const {
  ImageNetworkOptions options = network_;
  options.spec.channels = shape.channels, options.spec.height = shape.height, options.spec.width = shape.width;
  options.spec.classes = classes;
  return options;
}

PixelScale ImageClassExperiment::scale_of(const ImageSet& set, std::span<const std::int64_t> train) const {
  switch (normalisation_) {
    case Normalisation::all: return PixelScale::of_channels(set, train);
    case Normalisation::places:
    case Normalisation::minibatch: return PixelScale::of_places(set, train);
    case Normalisation::published: return {.mean = {0.1307}, .deviation = {0.3081}};
    case Normalisation::none: break;
  }
  return {};
}

std::unique_ptr<inference::Model<float>> ImageClassExperiment::make_model(const Snapshot& meaning,
                                                                          inference::Device device) const {
  const Meaning known = Meaning::saved_in(meaning);
  return network(known.shape, std::ssize(known.classes)).make_model(method().posterior.arithmetic, device, 1);
}

std::unique_ptr<training::LabelledRows> ImageClassExperiment::other_rows(const std::string& data,
                                                                         const Snapshot& meaning) const {
  ImageOptions options = images_;
  options.data = data, options.test_data = "";
  ImageSet set = read_image_set(options);
  const Meaning known = Meaning::saved_in(meaning);
  known.check_shape(set);
  const std::int64_t first = set.first_test < set.count() ? set.first_test : 0;  // all where there is no test part
  std::vector<std::int64_t> images(static_cast<std::size_t>(set.count() - first));
  std::iota(images.begin(), images.end(), first);
  std::ranges::fill(set.labels, std::uint8_t{0});
  return std::make_unique<ImageRows>(std::make_shared<const ImageSet>(std::move(set)), std::move(images), known.scale,
                                     Augmentation{});
}

std::unique_ptr<training::EpochRun> ImageClassExperiment::make_trainings() const {
  const inference::Device device = this->device();
  const auto set = std::make_shared<const ImageSet>(read_image_set(images_));
  const ImageNetworkOptions options = network(set->shape, std::ssize(set->classes));
  const auto make_trainer = [&](std::uint64_t seed) {
    const ImageSplit split = split_images(*set, images_, seed);
    const PixelScale scale = scale_of(*set, split.train);
    const auto rows = [&](const std::vector<std::int64_t>& images) {
      return std::make_unique<ImageRows>(
          set, images, scale, augmentation_,
          normalisation_ == Normalisation::minibatch ? MinibatchScale::of_minibatch : MinibatchScale::of_set);
    };
    training::LabelledParts parts{
        .train = rows(split.train), .validation = rows(split.validation), .test = rows(split.test)};
    Meaning{.shape = set->shape, .scale = scale, .classes = set->classes}.save(parts.meaning);
    return std::make_unique<training::ClassifierTrainer>(
        std::move(parts), training_, method(),
        options.make_model(method().posterior.arithmetic, device, seeds().count()), seed);
  };
  std::vector<std::int64_t> labels;
  for (const std::int64_t image : split_images(*set, images_, seeds().first).train)
    labels.push_back(set->labels[static_cast<std::size_t>(image)]);
  return std::make_unique<training::ClassifierRun>(
      seeds(),
      training::ClassifierRun::Facts{.data = set->name,
                                     .source = "images " + set->name,
                                     .datum = "image",
                                     .network = options.name(),
                                     .method = method_name(),
                                     .epochs = training_.epochs,
                                     .classes = set->classes,
                                     .synthetic = set->synthetic,
                                     .notices = class_notices(set->classes, labels, "image"),
                                     .data_options = values_of("Images"),
                                     .checksums = set->checksums},
      make_trainer);
}

std::vector<runs::Part> image_class_parts() {
  std::vector<runs::Part> parts;
  const auto add = [&](const std::string& data, const std::string& name, const std::string& description) {
    ImageOptions options{.data = data};
    parts.push_back(runs::make_part("images", name, description, OptionTable::of(options)));
  };
  add("./train-images-idx3-ubyte", "FILE", "images of one's own");
  for (const auto& [name, entry] : image_sets().entries()) add(name, name, entry.description);
  Augmentation augmentation;
  parts.push_back(runs::make_part("augmentation", "", "", OptionTable::of(augmentation)));
  ImageNetworkOptions network;
  parts.push_back(runs::make_part("network", "", "", OptionTable::of(network)));
  training::EpochOptions training = image_training();
  parts.push_back(runs::make_part("training", "", "", OptionTable::of(training)));
  training::add_method_parts(parts, image_class_presets(), training::NetworkInputs::rows);
  return parts;
}

}  // namespace stein::supervised
