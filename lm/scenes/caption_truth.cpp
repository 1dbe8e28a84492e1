#include <fmt/format.h>
#include <stein/lm/scenes/caption_parser.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_grammar.h>

#include <algorithm>

namespace stein::lm {
namespace {

std::string_view plainest(Synonyms words) {
  return words.front();
}

/// A claim in the most usual words.
class ClaimText {
 public:
  ClaimText(const Statement& statement, const Scene& scene) : scene_(scene) {
    for (const Claim& claim : statement)
      if (const auto* named = std::get_if<ObjectClaim>(&claim)) objects_.push_back(&named->description);
  }

  std::string operator()(const ObjectClaim& claim) const {
    const bool there_is_one =
        std::ranges::any_of(scene_.objects, [&](const SceneObject& object) { return claim.description.fits(object); });
    const std::string phrase = object_phrase(claim.description, plainest);
    return there_is_one ? "another " + phrase.substr(2) : phrase;
  }
  std::string operator()(const SideClaim& claim) const {
    return fmt::format("{} is {}", object(claim.object), phrases_of(claim.side).front());
  }
  std::string operator()(const RelationClaim& claim) const {
    return fmt::format("{} is {} {}", object(claim.subject), phrases_of(claim.relation).front(), object(claim.other));
  }
  std::string operator()(const NumberClaim& claim) const {
    return number_phrase(claim.count, claim.description, plainest);
  }

 private:
  std::string object(std::size_t number) const { return object_phrase(*objects_[number], plainest); }

  const Scene& scene_;
  std::vector<const Description*> objects_;
};

}  // namespace

CaptionVerdict judge_caption(std::string_view caption, const Scene& scene) {
  const ParsedCaption parsed = parse_caption(caption);
  if (!parsed.statement) return {.truth = Truth::no_caption, .reason = parsed.misfit};
  const std::optional<std::size_t> claim = first_false_claim(*parsed.statement, scene);
  if (!claim) return {.truth = Truth::is_true};
  return {.truth = Truth::is_false,
          .reason = std::visit(ClaimText(*parsed.statement, scene), (*parsed.statement)[*claim])};
}

}  // namespace stein::lm
