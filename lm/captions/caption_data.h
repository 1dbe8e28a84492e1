// Images, each as the row of features that a network made of it, with captions that people or a grammar wrote.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// An image and what was written about it.
struct CaptionedImage {
  std::string id;                     ///< name of the image's file, or of the scene
  std::int64_t row = 0;               ///< of the features; without features a number of its own
  std::vector<std::string> captions;  ///< at least one, each as caption_text gives it
};

/// A set of captioned images, cut into a training, a validation and a test part.
struct CaptionData {
  std::string name;
  bool synthetic = false;  ///< made up, its truth is known
  std::vector<CaptionedImage> train, validation, test;
  inference::Matrix<float> features{};             ///< [rows, F]; empty where captions alone were asked for
  std::map<std::string, std::string> checksums{};  ///< file name → SHA-256 of what was read

  bool has_features() const { return !features.empty(); }
  /// Images of all parts.
  std::int64_t image_count() const { return std::ssize(train) + std::ssize(validation) + std::ssize(test); }
};

/// A caption as it is kept: without white space at its ends; line ends and tabs inside are spaces.
std::string caption_text(std::string_view written);

/// What a set of captioned images has to have: a part that learns, is validated and tested, or images alone.
enum class PartsNeeded { all, any };

/// Throws Error(data) naming `source` and the image, unless every part that is needed has an image, every image at
/// least one caption, every caption at least a word, ids and captions are UTF-8, no id and no row is there twice, and,
/// where there are features, rows lie in them.
void check_caption_data(const CaptionData& data, std::string_view source, PartsNeeded needed = PartsNeeded::all);

/// Which images and captions, and where their features lie.
struct CaptionDataOptions {
  std::string data = "scenes";  ///< a registered name, or a file
  std::filesystem::path data_folder{};
  std::filesystem::path features{};
  std::filesystem::path feature_ids{};
  bool captions_only = false;
  PartsNeeded needed = PartsNeeded::all;  ///< no option: who trains needs all

  bool is_file() const;
  bool is_scenes() const { return data == "scenes"; }

  /// The options that mean something for `data`, which is to be set before.
  template <class V>
  void describe(V& v) {
    v("data", data,
      "captioned images: scenes (made up, their truth is known), flickr8k, or a file in the form of Karpathy & "
      "Fei-Fei's "
      "dataset_coco.json");
    if (is_scenes()) return;
    v("features", features, "a .npy or .safetensors file with a row of numbers for each image");
    v("captions_only", captions_only, "whether to read the captions without features, for a model of their words");
    if (is_file()) return;
    v("data_folder", data_folder, "folder with data sets; empty: $STEIN_DATA, then the user's cache");
    v("feature_ids", feature_ids,
      "the image of each row of the features: a .txt file with an id a line, or a .json file with a list of ids; "
      "empty: "
      "the file beside the features that is called like it, but for its ending");
  }
};

/// A registered set: its line in `stein list`, and how it is read.
struct CaptionSetEntry {
  std::string description;
  std::function<CaptionData(const CaptionDataOptions&)> read;
};

/// All caption sets that are linked in.
Registry<CaptionSetEntry>& caption_sets();

/// Reads what the options say, checked by check_caption_data.
/// @throws Error(usage) for a name that is neither registered nor a file, suggesting the nearest; without features
/// where
///         captions alone are not asked for, and with both; Error(data) naming file and reason for a set that is
///         missing or damaged, features that are not of its images, and whatever check_caption_data refuses
CaptionData read_caption_data(const CaptionDataOptions& options);

}  // namespace stein::lm
