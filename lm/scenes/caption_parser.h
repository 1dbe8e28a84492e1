// From the words of a caption of a scene to what it says.
#pragma once

#include <stein/lm/scenes/scene_statement.h>

#include <optional>
#include <string>
#include <string_view>

namespace stein::lm {

/// What a caption says, or why it is no caption of the language in scene_grammar.h.
struct ParsedCaption {
  std::optional<Statement> statement;
  /// Without a statement: the first words of the caption with which no caption of the language begins, from its first
  /// word to the one that does not fit; where the caption is the beginning of one, the whole of it and " …".
  std::string misfit;
};

/// Reads a caption: words of the vocabulary with single spaces between them.
ParsedCaption parse_caption(std::string_view caption);

}  // namespace stein::lm
