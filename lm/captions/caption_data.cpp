#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/lm/captions/caption_data.h>
#include <stein/lm/captions/flickr_captions.h>
#include <stein/lm/captions/image_features.h>
#include <stein/lm/captions/karpathy_captions.h>
#include <stein/training/data_name.h>

#include <simdjson.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view white_space = " \t\r\n\v\f";

bool is_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

void check_image(const CaptionedImage& image, std::string_view source) {
  const auto refuse = [&](std::string_view reason) {
    fail(ErrorKind::data, "'{}', image '{}': {}", source, escaped(image.id), reason);
  };
  if (image.id.empty()) refuse("expected an id, found an empty one");
  if (!is_utf8(image.id)) refuse("expected an id in UTF-8");
  if (image.captions.empty()) refuse("expected at least one caption, found none");
  for (std::size_t i = 0; i < image.captions.size(); ++i) {
    const std::string& caption = image.captions[i];
    if (caption.find_first_not_of(white_space) == std::string::npos)
      refuse(fmt::format("caption {} of {} is empty", i + 1, image.captions.size()));
    if (!is_utf8(caption))
      refuse(fmt::format("expected UTF-8, found the caption '{}'", escaped(caption.substr(0, 60))));
  }
}

void refuse_unless_wanted(const CaptionDataOptions& options) {
  STEIN_CHECK(
      !options.features.empty() || options.captions_only,
      "the captions of '{}' come without their images: set `features` to a .npy or .safetensors file that has a "
      "row of numbers for each image, or captions_only = true to read captions alone; `data = scenes` needs no "
      "such file",
      options.data);
  STEIN_CHECK(options.features.empty() || !options.captions_only,
              "with captions_only = true no features are read: leave out `features` or captions_only");
}

void read_features(CaptionData& data, const fs::path& path) {
  data.features = read_image_features(path);
  data.checksums[path.filename().string()] = sha256_file(path);
}

CaptionData read_own_captions(const CaptionDataOptions& options) {
  refuse_unless_wanted(options);
  const fs::path path = options.data;
  CaptionData data = read_karpathy_captions(path, options.needed);
  if (options.captions_only) return data;
  read_features(data, options.features);
  if (data.features.rows() != data.image_count())
    fail(ErrorKind::data, "'{}' has {} rows: expected one for each of the {} images of '{}'", options.features.string(),
         data.features.rows(), data.image_count(), path.string());
  return data;
}

/// The rows of the images, by the ids of the rows.
void assign_rows(CaptionData& data, const fs::path& features, const fs::path& ids_file) {
  const std::vector<std::string> ids = read_image_ids(ids_file);
  if (data.features.rows() != std::ssize(ids))
    fail(ErrorKind::data, "'{}' has {} rows: expected one for each of the {} ids in '{}'", features.string(),
         data.features.rows(), ids.size(), ids_file.string());
  std::unordered_map<std::string_view, std::int64_t> rows;
  for (std::size_t row = 0; row < ids.size(); ++row) rows.emplace(ids[row], static_cast<std::int64_t>(row));
  for (auto* part : {&data.train, &data.validation, &data.test})
    for (CaptionedImage& image : *part) {
      const auto place = rows.find(image.id);
      if (place == rows.end())
        fail(ErrorKind::data, "'{}' has no row for image '{}': its {} ids in '{}' lack it", features.string(),
             escaped(image.id), ids.size(), ids_file.string());
      image.row = place->second;
    }
  data.checksums[ids_file.filename().string()] = sha256_file(ids_file);
}

CaptionData read_flickr8k(const CaptionDataOptions& options) {
  refuse_unless_wanted(options);
  const std::optional<fs::path> folder = find_data_set("flickr8k", options.data_folder);
  if (!folder) {
    std::string places;
    for (const fs::path& place : data_folders(options.data_folder)) places += fmt::format(" '{}'", place.string());
    fail(ErrorKind::data,
         "the data set flickr8k is in none of{}: its four text files, which its makers give out, are expected there in "
         "a "
         "folder flickr8k; `data = scenes` needs none",
         places);
  }
  const std::vector<DataFile>& files = data_set("flickr8k").files;
  const auto path = [&](std::size_t i) { return data_file(*folder, files[i].name); };
  CaptionData data = read_flickr_captions({path(0), path(1), path(2), path(3)});
  data.name = "flickr8k";
  data.checksums.clear();
  for (const DataFile& file : files) data.checksums[file.name] = file.sha256;
  if (options.captions_only) return data;
  read_features(data, options.features);
  assign_rows(data, options.features, options.feature_ids.empty() ? ids_beside(options.features) : options.feature_ids);
  return data;
}

const bool registered = caption_sets().add(
    "flickr8k", {"Flickr8k: 6,000 / 1,000 / 1,000 images, five captions each; features of one's own", read_flickr8k});

}  // namespace

std::string caption_text(std::string_view written) {
  const std::size_t begin = written.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return {};
  std::string text(written.substr(begin, written.find_last_not_of(white_space) + 1 - begin));
  std::ranges::replace_if(
      text, [](char c) { return white_space.find(c) != std::string_view::npos; }, ' ');
  return text;
}

void check_caption_data(const CaptionData& data, std::string_view source, PartsNeeded needed) {
  std::unordered_set<std::string_view> ids;
  std::unordered_set<std::int64_t> rows;
  const auto check_part = [&](const std::vector<CaptionedImage>& part, const char* name) {
    if (part.empty() && (needed == PartsNeeded::all || data.image_count() == 0))
      fail(ErrorKind::data, "'{}' has no image of the {} part", source, name);
    for (const CaptionedImage& image : part) {
      check_image(image, source);
      if (!ids.insert(image.id).second)
        fail(ErrorKind::data, "'{}' has the image '{}' twice", source, escaped(image.id));
      if (!rows.insert(image.row).second || image.row < 0 || (data.has_features() && image.row >= data.features.rows()))
        fail(ErrorKind::data, "'{}', image '{}': expected a row of its own among the {} rows of features, found row {}",
             source, escaped(image.id), data.features.rows(), image.row);
    }
  };
  check_part(data.train, "training"), check_part(data.validation, "validation"), check_part(data.test, "test");
}

bool CaptionDataOptions::is_file() const {
  return training::means_file(data, caption_sets());
}

Registry<CaptionSetEntry>& caption_sets() {
  static Registry<CaptionSetEntry> entries("caption set");
  return entries;
}

CaptionData read_caption_data(const CaptionDataOptions& options) {
  CaptionData data = options.is_file() ? read_own_captions(options) : caption_sets().at(options.data).read(options);
  check_caption_data(data, options.data, options.needed);
  return data;
}

}  // namespace stein::lm
