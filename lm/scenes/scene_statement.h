// What a caption of a scene says, without its words: a list of claims.
#pragma once

#include <stein/lm/scenes/scene.h>

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

namespace stein::lm {

/// Properties that an object is said to have; what is absent is not said.
struct Description {
  std::optional<ObjectSize> size{};
  std::optional<Colour> colour{};
  std::optional<Shape> shape{};

  /// Whether `object` has all of the properties.
  bool fits(const SceneObject& object) const;
  bool operator==(const Description&) const = default;
};

/// "a big red circle": there is such an object, and it is another one than those that the statement names before. It is
/// the statement's next object; they are numbered from 0.
struct ObjectClaim {
  Description description;
  bool operator==(const ObjectClaim&) const = default;
};

/// "… on the left".
struct SideClaim {
  std::size_t object;
  Side side;
  bool operator==(const SideClaim&) const = default;
};

/// "… is left of …".
struct RelationClaim {
  std::size_t subject;
  Relation relation;
  std::size_t other;
  bool operator==(const RelationClaim&) const = default;
};

/// "two red circles": there are exactly so many objects like this.
struct NumberClaim {
  int count;  ///< 1 to 3
  Description description;
  bool operator==(const NumberClaim&) const = default;
};

using Claim = std::variant<ObjectClaim, SideClaim, RelationClaim, NumberClaim>;

/// Claims in the order in which the caption makes them.
using Statement = std::vector<Claim>;

/// The first claim that cannot hold together with those before it, by its place; nothing if the statement is true. A
/// statement is true if its objects can be assigned to different objects of the scene so that every claim holds.
std::optional<std::size_t> first_false_claim(const Statement& statement, const Scene& scene);

}  // namespace stein::lm
