#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/read_file.h>
#include <stein/lm/captions/karpathy_captions.h>

#include <simdjson.h>

#include <algorithm>
#include <optional>

namespace stein::lm {
namespace {

namespace dom = simdjson::dom;

/// What JSON calls a value of the type that is expected.
template <class Value>
constexpr const char* json_name = "whole number";
template <>
constexpr const char* json_name<std::string_view> = "text";
template <>
constexpr const char* json_name<dom::array> = "list";

/// An object of the file, and what an error calls it.
struct NamedObject {
  dom::object object;
  std::string name;

  template <class Value>
  std::optional<Value> find(const char* key) const {
    dom::element element;
    if (object.at_key(key).get(element) != simdjson::SUCCESS) return std::nullopt;
    Value value;
    if (element.get(value) != simdjson::SUCCESS)
      fail(ErrorKind::data, "{}: expected a {} as \"{}\"", name, json_name<Value>, key);
    return value;
  }

  template <class Value>
  Value at(const char* key) const {
    if (const std::optional<Value> value = find<Value>(key)) return *value;
    fail(ErrorKind::data, "{}: the key \"{}\" is missing", name, key);
  }
};

/// Item `number` of a list, which must be an object.
dom::object object_of(dom::element element, const std::string& source, const char* what, std::size_t number) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS)
    fail(ErrorKind::data, "{}: expected an object as item {} of \"{}\"", source, number, what);
  return object;
}

/// The part of a set that a split is read into.
std::vector<CaptionedImage>& part_of(CaptionData& data, const NamedObject& image) {
  const auto split = image.at<std::string_view>("split");
  if (split == "train" || split == "restval") return data.train;
  if (split == "val") return data.validation;
  if (split == "test") return data.test;
  fail(ErrorKind::data, "{}: expected a split train, restval, val or test, found '{}'", image.name, escaped(split));
}

CaptionedImage image_of(const NamedObject& place) {
  CaptionedImage image{.id = std::string(place.at<std::string_view>("filename")),
                       .row = place.at<std::int64_t>("imgid")};  // until rows are numbered
  for (const dom::element element : place.at<dom::array>("sentences")) {
    const NamedObject sentence{object_of(element, place.name, "sentences", image.captions.size() + 1),
                               fmt::format("{}, sentence {}", place.name, image.captions.size() + 1)};
    const std::int64_t owner = sentence.find<std::int64_t>("imgid").value_or(image.row);
    if (owner != image.row)
      fail(ErrorKind::data, "{}: it is of image {}, expected one of image {}", sentence.name, owner, image.row);
    image.captions.push_back(caption_text(sentence.at<std::string_view>("raw")));
  }
  return image;
}

/// From the numbers of the images to their places in the order of these.
void number_rows(CaptionData& data, const std::string& source) {
  std::vector<CaptionedImage*> images;
  for (auto* part : {&data.train, &data.validation, &data.test})
    for (CaptionedImage& image : *part) images.push_back(&image);
  std::ranges::sort(images, {}, &CaptionedImage::row);
  const auto twice = std::ranges::adjacent_find(images, {}, &CaptionedImage::row);
  if (twice != images.end())
    fail(ErrorKind::data, "{}: images '{}' and '{}' both have the imgid {}", source, escaped(twice[0]->id),
         escaped(twice[1]->id), twice[0]->row);
  for (std::size_t row = 0; row < images.size(); ++row) images[row]->row = static_cast<std::int64_t>(row);
}

}  // namespace

CaptionData read_karpathy_captions(const std::filesystem::path& path, PartsNeeded needed) {
  const std::string source = fmt::format("'{}'", path.string());
  const std::string text = read_text(path);
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(text).get(root); error != simdjson::SUCCESS)
    fail(ErrorKind::data, "{} is no JSON: {}", source, simdjson::error_message(error));
  NamedObject file{{}, source};
  if (root.get(file.object) != simdjson::SUCCESS)
    fail(ErrorKind::data, "{}: expected an object with the keys \"dataset\" and \"images\"", source);
  CaptionData data{.name = std::string(file.at<std::string_view>("dataset"))};
  std::size_t number = 0;
  for (const dom::element element : file.at<dom::array>("images")) {
    ++number;
    NamedObject place{object_of(element, source, "images", number), fmt::format("{}, image {}", source, number)};
    if (const auto name = place.find<std::string_view>("filename"))
      place.name += fmt::format(" ('{}')", escaped(*name));
    part_of(data, place).push_back(image_of(place));
  }
  number_rows(data, source);
  data.checksums[path.filename().string()] = sha256(text);
  check_caption_data(data, path.string(), needed);
  return data;
}

}  // namespace stein::lm
