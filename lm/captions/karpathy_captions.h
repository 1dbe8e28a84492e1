// Captions and parts of Flickr8k, Flickr30k and COCO in the JSON form of Karpathy & Fei-Fei (2015), Deep
// visual-semantic alignments for generating image descriptions: dataset_flickr8k.json, dataset_flickr30k.json,
// dataset_coco.json.
#pragma once

#include <stein/lm/captions/caption_data.h>

#include <filesystem>

namespace stein::lm {

/// Reads such a file, plain or compressed (`.gz`), without features:
///
///   {"dataset": "flickr8k", "images": [{"filename": "….jpg", "imgid": 0, "split": "train",
///                                       "sentences": [{"raw": "A dog .", "imgid": 0, …}, …], …}, …]}
///
/// Parts are those of `split`: train and restval are for training, val for validation, test for the test. Row r of the
/// features is that of the image with the (r + 1)-th smallest `imgid`, which is `imgid` itself where they count from 0.
/// Of a sentence the text `raw` is read; an `imgid` of its own must be the image's.
/// @throws Error(data) naming the file and the image: no JSON, a key that is missing or of another type, an unknown
///         split, a number of an image that is there twice, a caption of another image, and as check_caption_data
CaptionData read_karpathy_captions(const std::filesystem::path& path, PartsNeeded needed = PartsNeeded::all);

}  // namespace stein::lm
