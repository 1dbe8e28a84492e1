#include "fuzz/lm/caption_feeds.h"

#include <stein/lm/captions/caption_file.h>
#include <stein/lm/captions/caption_scores.h>
#include <stein/lm/captions/flickr_captions.h>
#include <stein/lm/captions/image_features.h>
#include <stein/lm/captions/karpathy_captions.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "fuzz/require.h"

namespace stein::test {
namespace {

namespace fs = std::filesystem;

using namespace lm;

std::string_view file_or_nothing(const std::vector<std::string_view>& files, std::size_t number) {
  return number < files.size() ? files[number] : std::string_view();
}

bool same(const CandidateCaption& a, const CandidateCaption& b) {
  return a.id == b.id && a.caption == b.caption && a.references == b.references;
}

void check_scores(const std::vector<CandidateCaption>& images) {
  for (const NamedMetric& named : score_captions(images)) {
    const double highest = named.name == "CIDEr-D" ? 10 : 1;
    const auto in_range = [&](double score) { return score >= 0 && score <= highest * (1 + 1e-9); };
    require(in_range(named.metric.corpus), "a metric over all captions is in its range");
    require(named.metric.images.size() == images.size(), "a metric has a number for each image");
    require(std::ranges::all_of(named.metric.images, in_range), "a metric of a caption is in its range");
  }
}

/// Rows are 0, 1, … in some order, and there are no features.
void check_captioned(const CaptionData& data) {
  require(!data.has_features(), "captions are read without features");
  check_caption_data(data, Input::folder().string());
  std::set<std::int64_t> rows;
  for (const auto* part : {&data.train, &data.validation, &data.test})
    for (const CaptionedImage& image : *part) rows.insert(image.row);
  require(*rows.begin() == 0 && *rows.rbegin() == data.image_count() - 1 && std::ssize(rows) == data.image_count(),
          "rows count the images");
}

void check_features(const inference::Matrix<float>& features) {
  require(features.rows() >= 1 && features.columns() >= 1, "features have rows and columns");
  for (std::int64_t row = 0; row < features.rows(); ++row)
    require(std::ranges::all_of(features.row(row), [](float number) { return std::isfinite(number); }),
            "features are finite");
}

void check_ids(const std::vector<std::string>& ids) {
  require(!ids.empty(), "there is an id");
  require(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size(), "no id is there twice");
  require(std::ranges::none_of(ids, [](const std::string& id) { return id.empty(); }), "no id is empty");
}

}  // namespace

void read_coco(const Input& input) {
  const auto files = input.files();
  const auto images =
      read_captions(input.write("captions.json", files[0]), input.write("references.json", file_or_nothing(files, 1)));
  require(!images.empty(), "there is an image");
  std::set<std::string> ids;
  for (const CandidateCaption& image : images) {
    require(ids.insert(image.id).second, "no image is there twice");
    require(!image.references.empty(), "an image has references");
  }
  const auto again = read_captions(input.write("captions_again.json", captions_json(images).dump()),
                                   input.write("references_again.json", references_json(images).dump()));
  require(std::ranges::equal(images, again, same), "what is written is read back");
  check_scores(images);
}

void read_karpathy(const Input& input) {
  check_captioned(read_karpathy_captions(input.write("captions.json", input.text())));
}

void read_flickr(const Input& input) {
  const auto files = input.files();
  const FlickrFiles paths{.captions = input.write("captions.txt", files[0]),
                          .train = input.write("train.txt", file_or_nothing(files, 1)),
                          .validation = input.write("validation.txt", file_or_nothing(files, 2)),
                          .test = input.write("test.txt", file_or_nothing(files, 3))};
  const CaptionData data = read_flickr_captions(paths);
  check_captioned(data);
  std::int64_t next = 0;
  for (const auto* part : {&data.train, &data.validation, &data.test})
    for (const CaptionedImage& image : *part) require(image.row == next++, "rows are in the order of the files");
}

void read_npy_features(const Input& input) {
  check_features(read_image_features(input.write("features.npy", input.text())));
}

void read_safetensors_features(const Input& input) {
  check_features(read_image_features(input.write("features.safetensors", input.text())));
}

void read_ids_of_lines(const Input& input) {
  check_ids(read_image_ids(input.write("ids.txt", input.text())));
}

void read_ids_of_json(const Input& input) {
  check_ids(read_image_ids(input.write("ids.json", input.text())));
}

}  // namespace stein::test
