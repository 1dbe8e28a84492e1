#include "fuzz/lm/scene_feeds.h"

#include <stein/lm/scenes/caption_parser.h>
#include <stein/lm/scenes/caption_truth.h>

#include <algorithm>

#include "fuzz/require.h"

namespace stein::test {
namespace {

using namespace lm;

/// Whether a caption of the language begins so.
bool begins_caption(std::string_view words) {
  const ParsedCaption parsed = parse_caption(words);
  return parsed.statement || parsed.misfit == std::string(words) + " …";
}

/// What no caption begins with is told up to the first word that does not fit.
void check_misfit(const std::string& misfit, std::string_view caption) {
  if (misfit == std::string(caption) + " …") return;
  require(caption.starts_with(misfit), "what does not fit is the beginning of the caption");
  if (misfit.empty()) return require(caption.starts_with(' '), "only before a space stands no word");
  require(parse_caption(misfit).misfit == misfit, "with what does not fit no caption begins");
  const std::size_t last = misfit.rfind(' ');
  require(begins_caption(misfit.substr(0, last == std::string::npos ? 0 : last)),
          "what stands before the first word that does not fit begins a caption");
}

void check_statement(const Statement& statement) {
  require(!statement.empty(), "a caption claims something");
  std::size_t objects = 0;
  for (const Claim& claim : statement) {
    if (std::holds_alternative<ObjectClaim>(claim)) ++objects;
    if (const auto* side = std::get_if<SideClaim>(&claim))
      require(side->object < objects, "a side is that of an object");
    if (const auto* relation = std::get_if<RelationClaim>(&claim))
      require(relation->subject < objects && relation->other < objects && relation->subject != relation->other,
              "a relation is one of two objects");
    if (const auto* number = std::get_if<NumberClaim>(&claim))
      require(number->count >= 1 && number->count <= 3, "a number is 1 to 3");
  }
  require(objects <= 3, "a caption names at most three objects");
}

void read_caption(std::string_view caption) {
  static const std::vector<Scene> scenes{draw_scene(0, 0), draw_scene(0, 1), draw_scene(0, 2), draw_scene(0, 3)};
  const ParsedCaption parsed = parse_caption(caption);
  require(!parsed.statement || parsed.misfit.empty(), "what says something has no words that do not fit");
  parsed.statement ? check_statement(*parsed.statement) : check_misfit(parsed.misfit, caption);
  for (const Scene& scene : scenes) {
    const CaptionVerdict verdict = judge_caption(caption, scene);
    require((verdict.truth == Truth::no_caption) == !parsed.statement, "what cannot be read is no caption");
    require(verdict.truth != Truth::is_true || verdict.reason.empty(), "a true caption needs no reason");
    require(verdict.truth != Truth::is_false || !verdict.reason.empty(), "a false caption has a reason");
    require(verdict.truth != Truth::no_caption || verdict.reason == parsed.misfit, "no caption is told by its words");
  }
}

}  // namespace

void read_scene_captions(const Input& input) {
  std::string_view text = input.text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    read_caption(line);
  }
}

}  // namespace stein::test
