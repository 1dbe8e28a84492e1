// Whether a caption is true of a scene: exact, for every caption of the language in scene_grammar.h.
#pragma once

#include <stein/lm/scenes/scene.h>

#include <string>
#include <string_view>

namespace stein::lm {

enum class Truth { is_true, is_false, no_caption };

/// Whether a caption is true, and if not why.
struct CaptionVerdict {
  Truth truth;
  /// Of a false caption the first claim that cannot hold together with those before it, in plain words ("a red circle
  /// is left of a square"; "another red circle" where there are fewer than were named). Of what is no caption its
  /// beginning up to the word that does not fit (see ParsedCaption::misfit). Empty if the caption is true.
  std::string reason{};
};

/// Judges `caption`, words with single spaces between them, as a caption of `scene`. What scene.h does not call clear
/// (a circle 4 pixels left of a square) is false when a caption claims it.
CaptionVerdict judge_caption(std::string_view caption, const Scene& scene);

}  // namespace stein::lm
