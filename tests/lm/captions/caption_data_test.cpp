#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>
#include <stein/lm/captions/caption_data.h>

#include <catch2/catch.hpp>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "lm/captions/feature_file.h"
#include "skip.h"

namespace stein::lm {
namespace {

/// Three images, one a part, in rows 0 to 2.
CaptionData small_set() {
  CaptionData data{.name = "small",
                   .train = {{"a.jpg", 0, {"a dog", "a brown dog"}}},
                   .validation = {{"b.jpg", 1, {"a cat"}}},
                   .test = {{"c.jpg", 2, {"a bird"}}}};
  data.features = inference::Matrix<float>(3, 2);
  return data;
}

constexpr const char* karpathy = R"({"dataset": "small", "images": [
  {"filename": "a.jpg", "imgid": 1, "split": "train", "sentences": [{"raw": "A dog ."}, {"raw": "One dog ."}]},
  {"filename": "b.jpg", "imgid": 0, "split": "val", "sentences": [{"raw": "A cat ."}]},
  {"filename": "c.jpg", "imgid": 2, "split": "test", "sentences": [{"raw": "A bird ."}]}]})";

TEST_CASE("a caption is kept without space around it, on one line", "[lm][captions]") {
  CHECK(caption_text("A dog runs .") == "A dog runs .");
  CHECK(caption_text(" \tA dog\nruns .\r\n") == "A dog runs .");
  CHECK(caption_text("A  dog") == "A  dog");
  CHECK(caption_text(" \n").empty());
  CHECK(caption_text("").empty());
}

TEST_CASE("images without captions, captions without words and images that are there twice are refused",
          "[lm][captions]") {
  CHECK_NOTHROW(check_caption_data(small_set(), "f"));
  const auto refused = [](auto change, const std::vector<std::string>& parts) {
    CaptionData data = small_set();
    change(data);
    test::check_error([&] { check_caption_data(data, "f"); }, ErrorKind::data, parts);
  };
  refused([](CaptionData& data) { data.train[0].captions.clear(); }, {"'f', image 'a.jpg'", "at least one caption"});
  refused([](CaptionData& data) { data.train[0].captions[1] = " \t"; }, {"'a.jpg'", "caption 2 of 2 is empty"});
  refused([](CaptionData& data) { data.test[0].captions[0] = "na\xefve"; }, {"'c.jpg'", "UTF-8", "na\\xefve"});
  refused([](CaptionData& data) { data.test[0].id = "\xef"; }, {"'\\xef'", "id in UTF-8"});
  refused([](CaptionData& data) { data.test[0].id = ""; }, {"'f'", "an empty one"});
  refused([](CaptionData& data) { data.test[0].id = "a.jpg"; }, {"'f' has the image 'a.jpg' twice"});
  refused([](CaptionData& data) { data.test[0].row = 0; }, {"'c.jpg'", "row of its own", "found row 0"});
  refused([](CaptionData& data) { data.test[0].row = 3; }, {"'c.jpg'", "3 rows", "found row 3"});
  refused([](CaptionData& data) { data.test[0].row = -1; }, {"'c.jpg'", "found row -1"});
  refused([](CaptionData& data) { data.train.clear(); }, {"'f' has no image of the training part"});
  refused([](CaptionData& data) { data.validation.clear(); }, {"no image of the validation part"});
  refused([](CaptionData& data) { data.test.clear(); }, {"no image of the test part"});
  CaptionData captions_only = small_set();
  captions_only.features = {};
  captions_only.test[0].row = 17;
  CHECK_NOTHROW(check_caption_data(captions_only, "f"));
  CHECK_FALSE(captions_only.has_features());
}

TEST_CASE("a file in Karpathy's form is joined with its features by the numbers of the images", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "dataset.json", karpathy);
  write_features(folder / "features.npy", 3, {10, 11, 20, 21, 30, 31});
  const CaptionDataOptions options{.data = (folder / "dataset.json").string(), .features = folder / "features.npy"};
  const CaptionData data = read_caption_data(options);
  CHECK(data.name == "small");
  CHECK_FALSE(data.synthetic);
  CHECK(data.image_count() == 3);
  REQUIRE(data.features.columns() == 2);
  CHECK(data.features.row(data.train[0].row)[0] == 20);  // imgid 1
  CHECK(data.features.row(data.validation[0].row)[1] == 11);
  CHECK(data.features.row(data.test[0].row)[0] == 30);
  CHECK(data.checksums.size() == 2);
  CHECK(data.checksums.at("dataset.json") == sha256(karpathy));
  CHECK(data.checksums.at("features.npy") == sha256_file(folder / "features.npy"));
}

TEST_CASE("features must be given, unless captions alone are wanted", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "dataset.json", karpathy);
  write_features(folder / "features.npy", 2, {1, 2, 3, 4});
  CaptionDataOptions options{.data = (folder / "dataset.json").string()};
  CHECK_ERROR(read_caption_data(options), usage, "come without their images", "captions_only = true", "data = scenes");
  options.captions_only = true;
  const CaptionData data = read_caption_data(options);
  CHECK_FALSE(data.has_features());
  CHECK(data.train[0].captions.size() == 2);
  CHECK(data.checksums.size() == 1);
  options.features = folder / "features.npy";
  CHECK_ERROR(read_caption_data(options), usage, "leave out `features`");
  options.captions_only = false;
  CHECK_ERROR(read_caption_data(options), data, "features.npy' has 2 rows", "3 images", "dataset.json'");
  write_features(folder / "features.npy", 4, {1, 2, 3, 4});
  CHECK_ERROR(read_caption_data(options), data, "features.npy' has 4 rows", "3 images", "dataset.json'");
}

TEST_CASE("Flickr8k has the published numbers of images and captions", "[lm][captions][data-set]") {
  if (!find_data_set("flickr8k")) test::skip("no data set flickr8k");
  const CaptionData data = read_caption_data({.data = "flickr8k", .captions_only = true});
  CHECK(data.name == "flickr8k");
  CHECK(data.train.size() == 6000);
  CHECK(data.validation.size() == 1000);
  CHECK(data.test.size() == 1000);
  std::set<std::string> ids;
  for (const auto* part : {&data.train, &data.validation, &data.test})
    for (const CaptionedImage& image : *part) {
      CHECK(image.captions.size() == 5);
      ids.insert(image.id);
    }
  CHECK(ids.size() == 8000);
  CHECK_FALSE(ids.contains("2258277193_586949ec62.jpg.1"));
  // The first lines of the files, by hand.
  CHECK(data.test[0].id == "3385593926_d3e9c21170.jpg");
  CHECK(data.test[0].captions[0] == "The dogs are in the snow in front of a fence .");
  CHECK(data.checksums.at("Flickr8k.token.txt") == data_set("flickr8k").files[0].sha256);
  CHECK(data.checksums.size() == 4);
  CHECK_ERROR(read_caption_data({.data = "flickr8k"}), usage, "'flickr8k'", "come without their images");
}

TEST_CASE("features of Flickr8k are found by the ids of their rows", "[lm][captions][data-set]") {
  if (!find_data_set("flickr8k")) test::skip("no data set flickr8k");
  const test::TemporaryDirectory folder;
  const CaptionData captions = read_caption_data({.data = "flickr8k", .captions_only = true});
  // Backwards, behind the feature of an image that is in no part: row r of 1 … 8000 has the feature r.
  std::vector<std::string> ids;
  for (const auto* part : {&captions.train, &captions.validation, &captions.test})
    for (const CaptionedImage& image : *part) ids.insert(ids.begin(), image.id);
  ids.insert(ids.begin(), "2258277193_586949ec62.jpg.1");
  std::string lines;
  std::vector<float> numbers;
  for (const std::string& id : ids) lines += id + "\n", numbers.push_back(static_cast<float>(numbers.size()));
  write_file_atomically(folder / "f.txt", lines);
  write_features(folder / "f.safetensors", 8001, numbers);
  CaptionDataOptions options{.data = "flickr8k", .features = folder / "f.safetensors"};
  const CaptionData data = read_caption_data(options);
  CHECK(data.train[0].row == 8000);
  CHECK(data.test[999].row == 1);
  CHECK(data.features.row(data.test[999].row)[0] == 1);
  CHECK(data.checksums.size() == 6);

  std::filesystem::rename(folder / "f.txt", folder / "elsewhere.txt");
  CHECK_ERROR(read_caption_data(options), data, "f.txt'", "f.json'", "found neither");
  options.feature_ids = folder / "elsewhere.txt";
  CHECK(read_caption_data(options).train[0].row == 8000);
  write_features(folder / "f.safetensors", 8000, {numbers.begin() + 1, numbers.end()});
  CHECK_ERROR(read_caption_data(options), data, "has 8000 rows", "8001 ids", "elsewhere.txt'");
  write_file_atomically(folder / "elsewhere.txt", lines.substr(0, lines.size() - ids.back().size() - 1));
  CHECK_ERROR(read_caption_data(options), data, "no row for image '" + captions.train[0].id + "'", "8000 ids");
}

TEST_CASE("a set that is not there is named, with what to do", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(read_caption_data({.data = "flickr"}), usage, "unknown caption set 'flickr'");
  CHECK_ERROR(read_caption_data({.data = (folder / "none.json").string(), .captions_only = true}), data, "none.json");
  CHECK_ERROR(read_caption_data({.data = "flickr8k", .data_folder = folder.path(), .captions_only = true}), data,
              "data set flickr8k", folder.path().string(), "data = scenes");
}

TEST_CASE("the options are those that mean something for the data", "[lm][captions]") {
  const auto names = [](const std::string& data) {
    CaptionDataOptions options{.data = data};
    std::set<std::string> found;
    const OptionTable table = OptionTable::of(options);
    for (const Option& option : table.options()) found.insert(option.name);
    return found;
  };
  using Names = std::set<std::string>;
  CHECK(names("scenes") == Names{"data"});
  CHECK(names("flickr8k") == Names{"data", "data_folder", "features", "feature_ids", "captions_only"});
  CHECK(names("./own.json") == Names{"data", "features", "captions_only"});
}

}  // namespace
}  // namespace stein::lm
