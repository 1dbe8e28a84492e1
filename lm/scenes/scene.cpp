#include <fmt/format.h>
#include <stein/core/rng.h>
#include <stein/lm/scenes/scene.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace stein::lm {
namespace {

constexpr double pixel_gap = 1;

template <class Property>
Property draw_property(Draws& draws, int count) {
  return static_cast<Property>(draws.integer(static_cast<std::uint32_t>(count)));
}

/// One of low, low + 1/4, …, high.
double draw_quarters(Draws& draws, double low, double high) {
  return low + 0.25 * draws.integer(static_cast<std::uint32_t>((high - low) * 4) + 1);
}

SceneObject draw_object(Draws& draws) {
  SceneObject object{};
  object.shape = draw_property<Shape>(draws, shape_count);
  object.colour = draw_property<Colour>(draws, colour_count);
  object.size = draw_property<ObjectSize>(draws, size_count);
  object.radius = object.size == ObjectSize::big ? draw_quarters(draws, 5, 6) : draw_quarters(draws, 3, 3.75);
  const double low = object.radius + pixel_gap, high = picture_width - low;
  object.x = draw_quarters(draws, low, high);
  object.y = draw_quarters(draws, low, high);
  return object;
}

/// Nothing where some of the objects are too near to one another.
std::optional<Scene> try_scene(Draws& draws, std::uint32_t count) {
  Scene scene;
  for (std::uint32_t i = 0; i < count; ++i) {
    const SceneObject object = draw_object(draws);
    if (std::ranges::any_of(scene.objects, [&](const SceneObject& other) { return too_near(object, other); }))
      return std::nullopt;
    scene.objects.push_back(object);
  }
  return scene;
}

}  // namespace

bool too_near(const SceneObject& a, const SceneObject& b) {
  const double reach = a.radius + b.radius + pixel_gap, dx = a.x - b.x, dy = a.y - b.y;
  return dx * dx + dy * dy < reach * reach;
}

bool lies_on(const SceneObject& object, Side side) {
  constexpr double middle = picture_width / 2;
  switch (side) {
    case Side::left: return object.x <= middle - clear_margin;
    case Side::right: return object.x >= middle + clear_margin;
    case Side::top: return object.y <= middle - clear_margin;
    case Side::bottom: return object.y >= middle + clear_margin;
  }
  return false;
}

bool holds(Relation relation, const SceneObject& a, const SceneObject& b) {
  switch (relation) {
    case Relation::left_of: return b.x - a.x >= clear_margin;
    case Relation::right_of: return a.x - b.x >= clear_margin;
    case Relation::above: return b.y - a.y >= clear_margin;
    case Relation::below: return a.y - b.y >= clear_margin;
  }
  return false;
}

Scene draw_scene(std::uint64_t seed, std::uint32_t index) {
  Draws draws({.seed = seed, .step = 0, .stream = Stream::data}, index);
  const std::uint32_t count = 1 + draws.integer(3);
  while (true)
    if (const std::optional<Scene> scene = try_scene(draws, count)) return *scene;
}

std::string describe(const Scene& scene) {
  std::string text;
  for (const SceneObject& object : scene.objects)
    fmt::format_to(std::back_inserter(text), "{} {} {} at ({}, {}), radius {}\n", name_of(object.size),
                   name_of(object.colour), name_of(object.shape), object.x, object.y, object.radius);
  return text;
}

const char* name_of(Shape shape) {
  constexpr const char* names[] = {"circle", "square", "triangle", "cross"};
  return names[static_cast<int>(shape)];
}

const char* name_of(Colour colour) {
  constexpr const char* names[] = {"red", "green", "blue", "yellow", "purple", "white"};
  return names[static_cast<int>(colour)];
}

const char* name_of(ObjectSize size) {
  return size == ObjectSize::big ? "big" : "small";
}

}  // namespace stein::lm
