// What captions of images are worth: the metrics, and of made-up scenes how many captions are true.
#pragma once

#include <stein/lm/captions/caption_data.h>
#include <stein/lm/captions/caption_file.h>
#include <stein/lm/scenes/scene.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::lm {

/// Which captions of scenes are true: shares of all of them, which add up to 1.
struct TruthShares {
  double is_true = 0;
  double is_false = 0;
  double no_caption = 0;  ///< not of the language of captions of scenes
};

/// Some captions, one an image, against the images' references.
struct CaptionQuality {
  std::vector<std::pair<std::string, double>> metrics{};  ///< as score_captions has them, over all images
  std::optional<TruthShares> truth{};

  /// Throws Error(usage) for one that is not there.
  double metric(std::string_view name) const;
};

/// The mean of several. Throws Error(usage) for none.
CaptionQuality mean_quality(std::span<const CaptionQuality> qualities);

/// The scenes of the set `scenes` by the ids of their images.
std::map<std::string, Scene> scenes_by_id();

/// Captions with their images' ids and references, as they are scored and written to files.
/// @throws Error(usage) unless there is one of each image
std::vector<CandidateCaption> candidate_captions(std::span<const CaptionedImage> images,
                                                 std::span<const std::string> captions);

/// @param scenes  what the images show; empty: that is not known
CaptionQuality caption_quality(std::span<const CandidateCaption> captions, const std::map<std::string, Scene>& scenes);

}  // namespace stein::lm
