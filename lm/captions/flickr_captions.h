// Captions of Flickr8k and Flickr30k in the text form in which they were published: Hodosh, Young & Hockenmaier (2013),
// Framing image description as a ranking task.
#pragma once

#include <stein/lm/captions/caption_data.h>

#include <filesystem>

namespace stein::lm {

/// Files of a set: captions as lines `image.jpg#0<TAB>a caption`, and for each part the ids of its images, one a line.
struct FlickrFiles {
  std::filesystem::path captions, train, validation, test;
};

/// Reads them, without features; rows count the images in the order of the files of the parts. Captions of images that
/// are in no part are left out (of Flickr8k 92 images, among them one with the odd id `2258277193_586949ec62.jpg.1`).
/// @throws Error(data) naming the file and the line: a line without `#`, number and tab, a caption without an image, an
///         empty one, text that is no UTF-8, an image that is in two parts, an image of a part that has no caption
CaptionData read_flickr_captions(const FlickrFiles& files);

}  // namespace stein::lm
