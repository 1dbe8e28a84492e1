#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>
#include <stein/lm/captions/flickr_captions.h>

#include <simdjson.h>

#include <algorithm>
#include <unordered_map>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

using Captions = std::unordered_map<std::string, std::vector<std::string>>;

/// "image.jpg#0<TAB>a caption" into the captions of image.jpg.
void take_line(std::string_view line, const LineReader& lines, Captions& captions) {
  if (!simdjson::validate_utf8(line)) lines.fail_here("expected UTF-8, found '{}'", escaped(line.substr(0, 60)));
  const std::size_t tab = line.find('\t'), mark = line.substr(0, tab).rfind('#');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool has_number = tab != std::string_view::npos && mark != std::string_view::npos && tab > mark + 1 &&
                          std::ranges::all_of(line.substr(mark + 1, tab - mark - 1), is_digit);
  if (!has_number)
    lines.fail_here("expected an image, '#', the caption's number, a tab and the caption, found '{}'",
                    escaped(line.substr(0, 60)));
  if (mark == 0) lines.fail_here("the caption has no image");
  std::string caption = caption_text(line.substr(tab + 1));
  if (caption.empty()) lines.fail_here("the caption of '{}' is empty", escaped(line.substr(0, mark)));
  captions[std::string(line.substr(0, mark))].push_back(std::move(caption));
}

Captions read_captions(const fs::path& path) {
  Captions captions;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) take_line(line, lines, captions);
  return captions;
}

/// Takes the captions of the images that a file names; `taken` gets their names.
std::vector<CaptionedImage> read_part(const fs::path& path, const FlickrFiles& files, Captions& captions,
                                      std::unordered_map<std::string, fs::path>& taken) {
  std::vector<CaptionedImage> part;
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (!simdjson::validate_utf8(line)) lines.fail_here("expected UTF-8, found '{}'", escaped(line.substr(0, 60)));
    const std::string id(line);
    const auto [place, is_new] = taken.emplace(id, path);
    if (!is_new) lines.fail_here("the image '{}' is in '{}' already", escaped(id), place->second.string());
    const auto found = captions.find(id);
    if (found == captions.end())
      lines.fail_here("the image '{}' has no caption in '{}'", escaped(id), files.captions.string());
    part.push_back({.id = id, .row = std::ssize(taken) - 1, .captions = std::move(found->second)});
  }
  return part;
}

}  // namespace

CaptionData read_flickr_captions(const FlickrFiles& files) {
  Captions captions = read_captions(files.captions);
  std::unordered_map<std::string, fs::path> taken;
  CaptionData data{.name = files.captions.stem().string()};
  data.train = read_part(files.train, files, captions, taken);
  data.validation = read_part(files.validation, files, captions, taken);
  data.test = read_part(files.test, files, captions, taken);
  for (const fs::path& path : {files.captions, files.train, files.validation, files.test})
    data.checksums[path.filename().string()] = sha256_file(path);
  check_caption_data(data, files.captions.string());
  return data;
}

}  // namespace stein::lm
