// Captions and their references in the JSON files of the COCO caption evaluation.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace stein::lm {

/// An image with one caption to be scored, and the captions that people wrote for it.
struct CandidateCaption {
  std::string id;       ///< a number as its decimal digits: image 42 and image "42" are the same
  std::string caption;  ///< may be empty: it then scores 0
  std::vector<std::string> references{};
};

/// What becomes of images with references and without a caption.
enum class UncaptionedImages { refused, left_out };

/// Reads captions `[{"image_id": …, "caption": "…"}, …]` and references `{"images": [{"id": …}, …], "annotations":
/// [{"image_id": …, "caption": "…"}, …]}`, each plain or in a file `.gz`. Ids are integers or texts. Other keys are
/// passed over, the `id` of an annotation too.
/// @return the images in the order of `images`, with their references in the order of `annotations`
/// @throws Error(data) naming the file and, where there is one, the image or the number of the entry, counted from 1: a
///         file is missing, no JSON, or of another shape; two captions of one image; an image with a caption and
///         without references; images without a caption that are not left out (how many, and the first); an image twice
///         in `images`, not in it, or without annotations; no image has a caption. Error(io)
std::vector<CandidateCaption> read_captions(const std::filesystem::path& captions,
                                            const std::filesystem::path& references,
                                            UncaptionedImages uncaptioned = UncaptionedImages::refused);

/// Lists and objects that `read_captions` reads back as `images`, in their order, from the files that they are written
/// to: captions, whose entries may get further keys, and references.
nlohmann::ordered_json captions_json(std::span<const CandidateCaption> images);
nlohmann::ordered_json references_json(std::span<const CandidateCaption> images);

}  // namespace stein::lm
