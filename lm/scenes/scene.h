// Made-up scenes: one to three coloured shapes on a square picture, of which everything that a caption may say is
// known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stein::lm {

enum class Shape { circle, square, triangle, cross };
enum class Colour { red, green, blue, yellow, purple, white };
enum class ObjectSize { small, big };

inline constexpr int shape_count = 4, colour_count = 6, size_count = 2;

/// Where an object may lie with respect to the middle of the picture.
enum class Side { left, right, top, bottom };
/// How an object may lie with respect to another one.
enum class Relation { left_of, right_of, above, below };

inline constexpr int side_count = 4, relation_count = 4;

/// Width and height of the picture [pixels].
inline constexpr double picture_width = 32;
/// A side or a relation is claimed only where the centres are at least this far on that side of the middle, or of one
/// another [pixels].
inline constexpr double clear_margin = 5;

/// A shape and its place. All lengths are whole quarters of a pixel, so that comparisons of them are exact.
struct SceneObject {
  Shape shape;
  Colour colour;
  ObjectSize size;
  double x;       ///< centre, from the left edge of the picture [pixels]
  double y;       ///< centre, from the upper edge, downwards [pixels]
  double radius;  ///< of the disc that the shape lies in: 3 to 3.75 if small, 5 to 6 if big [pixels]

  bool operator==(const SceneObject&) const = default;
};

/// One to three objects, whose discs have at least a pixel between one another and to the edges of the picture.
struct Scene {
  std::vector<SceneObject> objects;

  bool operator==(const Scene&) const = default;
};

/// Whether the discs of two objects come nearer to one another than a pixel.
bool too_near(const SceneObject& a, const SceneObject& b);

/// Whether the centre of `object` lies at least `clear_margin` from the middle of the picture, on that side.
bool lies_on(const SceneObject& object, Side side);

/// Whether the centre of `a` is at least `clear_margin` left of that of `b`, and so on. The other direction does not
/// count: an object may be left of another one and above it.
bool holds(Relation relation, const SceneObject& a, const SceneObject& b);

/// Scene `index` of a seed: one, two or three objects with equal chances; properties and places are uniform among those
/// with which the objects have room.
Scene draw_scene(std::uint64_t seed, std::uint32_t index);

/// One line an object: "big red circle at (12.25, 9.5), radius 5.5".
std::string describe(const Scene& scene);

/// The plain English name.
const char* name_of(Shape shape);
const char* name_of(Colour colour);
const char* name_of(ObjectSize size);

}  // namespace stein::lm
