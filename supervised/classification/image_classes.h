// A classifier of images as a person describes it: images, network, method, training.
#pragma once

#include <stein/supervised/images/augmentation.h>
#include <stein/supervised/images/image_rows.h>
#include <stein/supervised/images/image_set.h>
#include <stein/supervised/network/image_network_options.h>
#include <stein/training/classifier_experiment.h>
#include <stein/training/epoch_options.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::supervised {

/// What `stein classify` starts where the data are images.
class ImageClassExperiment final : public training::ClassifierExperiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  ImageClassExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  /// Whether the sources mean images: the name of a set, an IDX file, or a preset of such.
  static bool recognises(const runs::OptionSources& sources);

  std::unique_ptr<training::LabelledRows> other_rows(const std::string& data, const Snapshot& meaning) const override;

  /// What a network that was trained has of its images.
  struct Meaning {
    ImageShape shape{};
    PixelScale scale{};
    std::vector<std::string> classes{};

    void save(Snapshot& snapshot) const;
    /// What `save` wrote. Throws Error(data) if it is not there or damaged.
    static Meaning saved_in(const Snapshot& snapshot);
    /// Throws Error(data), naming the set, if its images have another size.
    void check_shape(const ImageSet& set) const;
  };

 private:
  /// Images are read, and parted as each seed wants.
  std::unique_ptr<training::EpochRun> make_trainings() const override;
  /// Where the scale of pixels comes from.
  enum class Normalisation { all, places, minibatch, published, none };

  static Published published();
  /// The options with the names of the data, on which it depends which others there are.
  static ImageOptions named_images(const runs::OptionSources& sources);
  const std::string& data() const override { return images_.data; }
  std::unique_ptr<inference::Model<float>> make_model(const Snapshot& meaning, inference::Device device) const override;
  ImageNetworkOptions network(const ImageShape& shape, std::int64_t classes) const;
  PixelScale scale_of(const ImageSet& set, std::span<const std::int64_t> train) const;

  ImageOptions images_;
  Normalisation normalisation_ = Normalisation::all;
  Augmentation augmentation_;
  ImageNetworkOptions network_;
  training::EpochOptions training_;
};

/// The parts that experiments can be put together from.
std::vector<runs::Part> image_class_parts();

}  // namespace stein::supervised
