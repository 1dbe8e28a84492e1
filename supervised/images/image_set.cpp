#include <stein/core/checksum.h>
#include <stein/core/cifar10.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/idx.h>
#include <stein/supervised/images/image_set.h>
#include <stein/supervised/images/synthetic_digits.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stein::supervised {
namespace {

namespace fs = std::filesystem;

/// The file of labels that belongs to a file of images, as MNIST names them.
fs::path labels_beside(const fs::path& images) {
  std::string name = images.filename().string();
  const std::size_t place = name.find("images-idx3");
  STEIN_CHECK(place != std::string::npos,
              "'{}': expected a file of images called …images-idx3-ubyte, which tells that of its labels",
              images.string());
  name.replace(place, std::string_view("images-idx3").size(), "labels-idx1");
  return images.parent_path() / name;
}

/// [n, height, width], at least one image.
IdxArray read_images(const fs::path& file) {
  IdxArray images = read_idx(file);
  if (images.shape.size() != 3 || images.shape[1] < 1 || images.shape[2] < 1)
    fail(ErrorKind::data, "'{}': expected images [n, height, width], found {} dimensions", file.string(),
         images.shape.size());
  if (images.shape[0] == 0) fail(ErrorKind::data, "'{}' has no image", file.string());
  return images;
}

/// Of the images of an IDX file.
ImageShape shape_of(const IdxArray& images) {
  return {.channels = 1, .height = images.shape[1], .width = images.shape[2]};
}

/// Appends images and labels; the set has no class names yet.
void append(const fs::path& image_file, const fs::path& label_file, ImageSet& to) {
  IdxArray images = read_images(image_file), labels = read_idx(label_file);
  if (labels.shape.size() != 1 || labels.shape[0] != images.shape[0])
    fail(ErrorKind::data, "'{}': expected a label for each of {} images, found {}", label_file.string(),
         images.shape[0], labels.bytes.size());
  const ImageShape shape = shape_of(images);
  if (to.labels.empty())
    to.shape = shape, to.pixels = std::move(images.bytes);
  else if (shape == to.shape)
    to.pixels.insert(to.pixels.end(), images.bytes.begin(), images.bytes.end());
  else
    fail(ErrorKind::data, "'{}': expected images of {} x {} pixels as for training, found {} x {}", image_file.string(),
         to.shape.height, to.shape.width, shape.height, shape.width);
  to.labels.insert(to.labels.end(), labels.bytes.begin(), labels.bytes.end());
}

ImageSet read_published(const ImageOptions& options, const char* name, std::vector<std::string> classes) {
  const fs::path folder = require_data_set(name, options.data_folder, "`--data digits-synthetic` needs none");
  const std::vector<DataFile>& files = data_set(name).files;
  ImageSet set{.name = options.data, .classes = std::move(classes)};
  append(data_file(folder, files[0].name), data_file(folder, files[1].name), set);
  set.first_test = set.count();
  if (files.size() == 4) append(data_file(folder, files[2].name), data_file(folder, files[3].name), set);
  for (const DataFile& file : files) set.checksums[file.name] = file.sha256;
  return set;
}

/// Classes are the labels that occur for training.
ImageSet read_own(const ImageOptions& options) {
  const fs::path images = options.data;
  const auto read = [](const fs::path& file, ImageSet& to) {
    const fs::path labels = labels_beside(file);
    append(file, labels, to);
    for (const fs::path& each : {file, labels}) to.checksums[each.filename().string()] = sha256_file(each);
  };
  ImageSet set{.name = images.stem() == images.filename() ? images.string() : images.stem().string()};
  read(images, set);
  const std::uint8_t last = *std::ranges::max_element(set.labels);
  for (int label = 0; label <= last; ++label) set.classes.push_back(std::to_string(label));
  set.first_test = set.count();
  if (options.test_data.empty()) return set;
  read(options.test_data, set);
  for (std::int64_t i = set.first_test; i < set.count(); ++i)
    if (const std::uint8_t label = set.labels[static_cast<std::size_t>(i)]; label > last)
      fail(ErrorKind::data, "'{}': image {} has the class {}; those for training have 0 to {}",
           options.test_data.string(), i - set.first_test, label, last);
  return set;
}

/// All training batches that lie in the folder of `first`, and the test batch there.
ImageSet read_cifar10(const fs::path& first) {
  ImageSet set{
      .name = "cifar-10",
      .classes = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
      .shape = {.channels = Cifar10Batch::channels, .height = Cifar10Batch::height, .width = Cifar10Batch::width}};
  const auto append_batch = [&](const fs::path& file) {
    const Cifar10Batch batch = read_cifar10_batch(file);
    set.labels.insert(set.labels.end(), batch.labels.begin(), batch.labels.end());
    set.pixels.insert(set.pixels.end(), batch.pixels.begin(), batch.pixels.end());
    set.checksums[file.filename().string()] = sha256_file(file);
  };
  for (int number = 1; number <= 5; ++number) {
    const fs::path file = first.parent_path() / fmt::format("data_batch_{}.bin", number);
    if (file == first || fs::exists(file)) append_batch(file);
  }
  set.first_test = set.count();
  append_batch(first.parent_path() / "test_batch.bin");
  return set;
}

Registry<ImageSetEntry> make_sets() {
  Registry<ImageSetEntry> made("set of images");
  made.add("mnist", {.description = "MNIST: 60,000 + 10,000 handwritten digits, 28 x 28",
                     .read = [](const ImageOptions& options) {
                       return read_published(options, "mnist", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
                     }});
  made.add("fashion-mnist-900", {.description = "Fashion-MNIST, a sample of 900 images of clothes, 28 x 28",
                                 .given_test = false,
                                 .read = [](const ImageOptions& options) {
                                   return read_published(options, "fashion-mnist",
                                                         {"T-shirt", "trouser", "pullover", "dress", "coat", "sandal",
                                                          "shirt", "sneaker", "bag", "ankle boot"});
                                 }});
  made.add("digits-synthetic",
           {.description = "strokes of digits with a hand of their own, made up, 28 x 28",
            .read = [](const ImageOptions& options) { return make_synthetic_digits(options.synthetic_images, 0); }});
  return made;
}

}  // namespace

bool ImageOptions::is_file() const {
  return training::means_file(data, image_sets());
}

bool ImageOptions::is_cifar10() const {
  return is_file() && training::means_cifar10(data);
}

bool ImageOptions::draws_test() const {
  if (is_cifar10()) return false;
  if (is_file()) return test_data.empty();
  const auto place = image_sets().entries().find(data);
  return place != image_sets().entries().end() && !place->second.given_test;
}

Registry<ImageSetEntry>& image_sets() {
  static Registry<ImageSetEntry> sets = make_sets();
  return sets;
}

ImageSet read_image_set(const ImageOptions& options) {
  if (options.is_cifar10()) return read_cifar10(options.data);
  if (options.is_file()) return read_own(options);
  return image_sets().at(options.data).read(options);
}

ImageSet read_unlabelled_images(const std::filesystem::path& file) {
  ImageSet set{.name = file.string()};
  if (file.extension() == ".bin") {
    set.shape = {.channels = Cifar10Batch::channels, .height = Cifar10Batch::height, .width = Cifar10Batch::width};
    set.pixels = read_cifar10_batch(file).pixels;
  } else {
    IdxArray images = read_images(file);
    set.shape = shape_of(images);
    set.pixels = std::move(images.bytes);
  }
  set.labels.resize(set.pixels.size() / static_cast<std::size_t>(set.shape.pixels()));
  set.first_test = set.count();
  return set;
}

}  // namespace stein::supervised
