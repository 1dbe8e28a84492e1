#include <stein/lm/scenes/scene_statement.h>

#include <algorithm>
#include <span>

namespace stein::lm {
namespace {

/// Objects of the scene that stand for those of the statement, in their order.
using Assignment = std::vector<const SceneObject*>;

bool claim_holds(const Claim& claim, const Assignment& objects, const Scene& scene) {
  struct Visitor {
    const Assignment& objects;
    const Scene& scene;

    bool operator()(const ObjectClaim&) const { return true; }  // it was assigned
    bool operator()(const SideClaim& claim) const { return lies_on(*objects[claim.object], claim.side); }
    bool operator()(const RelationClaim& claim) const {
      return holds(claim.relation, *objects[claim.subject], *objects[claim.other]);
    }
    bool operator()(const NumberClaim& claim) const {
      const auto fits = [&](const SceneObject& object) { return claim.description.fits(object); };
      return std::ranges::count_if(scene.objects, fits) == claim.count;
    }
  };
  return std::visit(Visitor{objects, scene}, claim);
}

/// Whether the claims can all hold, given that the objects they begin with stand for `objects`.
bool can_hold(std::span<const Claim> claims, Assignment& objects, const Scene& scene) {
  for (; !claims.empty(); claims = claims.subspan(1)) {
    const auto* named = std::get_if<ObjectClaim>(&claims.front());
    if (named == nullptr) {
      if (!claim_holds(claims.front(), objects, scene)) return false;
      continue;
    }
    for (const SceneObject& object : scene.objects) {
      if (!named->description.fits(object) || std::ranges::find(objects, &object) != objects.end()) continue;
      objects.push_back(&object);
      const bool holds_so = can_hold(claims.subspan(1), objects, scene);
      objects.pop_back();
      if (holds_so) return true;
    }
    return false;
  }
  return true;
}

}  // namespace

bool Description::fits(const SceneObject& object) const {
  return (!size || *size == object.size) && (!colour || *colour == object.colour) && (!shape || *shape == object.shape);
}

std::optional<std::size_t> first_false_claim(const Statement& statement, const Scene& scene) {
  for (std::size_t count = 1; count <= statement.size(); ++count) {
    Assignment none;
    if (!can_hold(std::span(statement).first(count), none, scene)) return count - 1;
  }
  return std::nullopt;
}

}  // namespace stein::lm
