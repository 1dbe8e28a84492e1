// What the tasks look like: carts and links, as data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::agents {

/// A rod from the end of the one before it, or from the base.
struct Link {
  double length;            ///< [m]
  std::vector<int> angles;  ///< quantities of the state whose sum is its angle [rad]
  bool hangs = false;       ///< at angle 0 it hangs; else it stands
  double sense = 1;         ///< 1: a positive angle leans to the right; −1: to the left
};

/// A cart on a rail, or a fixed base, with links on it.
struct Scene {
  int cart = -1;    ///< which quantity of the state is the place of the cart [m]; −1: the base does not move
  double rail = 0;  ///< half of what is drawn of the rail at least [m]
  std::vector<Link> links;

  /// Most that the links stretch from the base.
  double reach() const;
};

/// A place in a scene.
struct Point {
  double x, y;  ///< to the right, upwards [m]
};

/// The scene of a task; null if there is none.
const Scene* find_scene(std::string_view environment);
/// The scene of a task. Throws Error(usage) naming the tasks that have one.
const Scene& scene_of(std::string_view environment);

/// The base and the end of every link.
std::vector<Point> joints(const Scene& scene, std::span<const double> state);

}  // namespace stein::agents
