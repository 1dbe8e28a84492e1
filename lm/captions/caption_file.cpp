#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/read_file.h>
#include <stein/lm/captions/caption_file.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stein::lm {
namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

Json read_json(const Path& path) {
  try {
    return Json::parse(read_text(path));
  } catch (const Json::exception& error) {       // out_of_range of a number beyond doubles, else parse_error
    const std::string_view text = error.what();  // "[json.exception…] parse error at line 1, column 2: …"
    fail(ErrorKind::data, "'{}' is no JSON: {}", path.string(), escaped(text.substr(text.find(']') + 2)));
  }
}

/// A value that is not what was expected, for messages: its type, and what it is unless it has other values in it,
/// which may be nested too deep to be written.
std::string described(const Json& value) {
  constexpr std::size_t longest = 60;
  if (value.is_structured() || value.is_null()) return value.type_name();
  const Json start = value.is_string() ? Json(value.get<std::string>().substr(0, longest)) : value;
  return fmt::format("{} {}", value.type_name(), start.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// An entry of a list in a file, for messages.
struct Place {
  const Path& path;
  std::string_view list;  ///< "" for the only list of a file
  std::size_t number;     ///< from 1

  std::string text() const {
    return list.empty() ? fmt::format("'{}', entry {}", path.string(), number)
                        : fmt::format("'{}', entry {} of \"{}\"", path.string(), number, list);
  }
};

/// The value of `key`. Throws Error(data) if `entry` is no object, or lacks it.
const Json& value_of(const Json& entry, const char* key, const Place& place) {
  if (!entry.is_object())
    fail(ErrorKind::data, "{}: expected an object with \"{}\", found {}", place.text(), key, described(entry));
  const auto found = entry.find(key);
  if (found == entry.end()) fail(ErrorKind::data, "{}: there is no \"{}\"", place.text(), key);
  return *found;
}

std::string id_of(const Json& entry, const char* key, const Place& place) {
  const Json& id = value_of(entry, key, place);
  if (id.is_string()) return id.get<std::string>();
  if (!id.is_number_integer())
    fail(ErrorKind::data, "{}: expected an integer or a text for \"{}\", found {}", place.text(), key, described(id));
  return id.dump();
}

std::string caption_of(const Json& entry, const Place& place) {
  const Json& caption = value_of(entry, "caption", place);
  if (!caption.is_string())
    fail(ErrorKind::data, "{}: expected a text for \"caption\", found {}", place.text(), described(caption));
  return caption.get<std::string>();
}

const Json& list_of(const Json& json, const char* key, const Path& path) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || found == json.end() || !found->is_array())
    fail(ErrorKind::data, "'{}': expected an object with the lists \"images\" and \"annotations\", found {} \"{}\"",
         path.string(), json.is_object() ? "one without a list" : fmt::format("{} instead of", json.type_name()), key);
  return *found;
}

/// The images of a file of references, and where each stands.
struct References {
  std::vector<CandidateCaption> images{};
  std::unordered_map<std::string, std::size_t> places{};
};

References read_references(const Path& path) {
  const Json json = read_json(path);
  References references;
  std::size_t number = 0;
  for (const Json& entry : list_of(json, "images", path)) {
    const Place place{path, "images", ++number};
    std::string id = id_of(entry, "id", place);
    if (!references.places.emplace(id, references.images.size()).second)
      fail(ErrorKind::data, "{}: image {} is there twice", place.text(), escaped(id));
    references.images.push_back({.id = std::move(id), .caption = ""});
  }
  if (references.images.empty()) fail(ErrorKind::data, "'{}' has no images", path.string());
  number = 0;
  for (const Json& entry : list_of(json, "annotations", path)) {
    const Place place{path, "annotations", ++number};
    const std::string id = id_of(entry, "image_id", place);
    const auto image = references.places.find(id);
    if (image == references.places.end())
      fail(ErrorKind::data, "{}: image {} is not in \"images\"", place.text(), escaped(id));
    references.images[image->second].references.push_back(caption_of(entry, place));
  }
  for (const CandidateCaption& image : references.images)
    if (image.references.empty())
      fail(ErrorKind::data, "'{}': image {} has no annotation", path.string(), escaped(image.id));
  return references;
}

}  // namespace

std::vector<CandidateCaption> read_captions(const Path& captions, const Path& references,
                                            UncaptionedImages uncaptioned) {
  auto [images, places] = read_references(references);
  const Json json = read_json(captions);
  if (!json.is_array())
    fail(ErrorKind::data, "'{}': expected a list of objects with \"image_id\" and \"caption\", found {}",
         captions.string(), json.type_name());
  std::vector<std::size_t> entries(images.size(), 0);  // number of the entry with the caption of each image
  std::size_t number = 0;
  for (const Json& entry : json) {
    const Place place{captions, "", ++number};
    const std::string id = id_of(entry, "image_id", place);
    const auto found = places.find(id);
    if (found == places.end())
      fail(ErrorKind::data, "{}: image {} has no references in '{}'", place.text(), escaped(id), references.string());
    if (std::size_t& earlier = entries[found->second]; std::exchange(earlier, number) != 0)
      fail(ErrorKind::data, "{}: image {} has a caption already", place.text(), escaped(id));
    images[found->second].caption = caption_of(entry, place);
  }
  if (json.empty()) fail(ErrorKind::data, "'{}' has no caption", captions.string());
  const std::size_t missing = images.size() - json.size();
  std::vector<CandidateCaption> captioned;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (entries[i] > 0)
      captioned.push_back(std::move(images[i]));
    else if (uncaptioned == UncaptionedImages::refused)
      fail(ErrorKind::data, "'{}' has no caption for {} of the {} images of '{}'; the first is image {}",
           captions.string(), missing, images.size(), references.string(), escaped(images[i].id));
  }
  return captioned;
}

nlohmann::ordered_json captions_json(std::span<const CandidateCaption> images) {
  auto list = nlohmann::ordered_json::array();
  for (const CandidateCaption& image : images) list.push_back({{"image_id", image.id}, {"caption", image.caption}});
  return list;
}

nlohmann::ordered_json references_json(std::span<const CandidateCaption> images) {
  auto known = nlohmann::ordered_json::array(), annotations = nlohmann::ordered_json::array();
  for (const CandidateCaption& image : images) {
    known.push_back({{"id", image.id}});
    for (const std::string& reference : image.references)
      annotations.push_back({{"id", annotations.size()}, {"image_id", image.id}, {"caption", reference}});
  }
  return {{"images", std::move(known)}, {"annotations", std::move(annotations)}};
}

}  // namespace stein::lm
