#include <stein/agents/control/pictures/scene.h>

#include <fmt/ranges.h>
#include <stein/core/error.h>

#include <cmath>
#include <functional>
#include <map>

namespace stein::agents {
namespace {

const Link left_pole{.length = 1, .angles = {2}, .sense = -1};
const Scene rllab_cart{.cart = 0, .rail = 2.4, .links = {left_pole}};
const Scene rllab_links{
    .links = {{.length = 1, .angles = {0}, .hangs = true}, {.length = 1, .angles = {2}, .hangs = true}}};

/// Lengths and senses are those of envs/; a twin looks like what it is a twin of.
const std::map<std::string, Scene, std::less<>> scenes{
    {"CartPole-v1", {.cart = 0, .rail = 2.4, .links = {{.length = 1, .angles = {2}}}}},
    {"cartpole", rllab_cart},
    {"cartpole-mujoco", rllab_cart},
    {"cartpole-swingup", rllab_cart},
    {"cartpole-swingup-mujoco", rllab_cart},
    {"cartpole-swingup-sparse", {.cart = 0, .rail = 3, .links = {{.length = 1, .angles = {2}}}}},
    {"cartpole-swingup-dm", {.cart = 0, .rail = 2, .links = {{.length = 1, .angles = {1}}}}},
    {"InvertedPendulum", {.cart = 0, .rail = 1, .links = {{.length = 0.6, .angles = {1}}}}},
    {"InvertedDoublePendulum",
     {.cart = 0, .rail = 1, .links = {{.length = 0.6, .angles = {1}}, {.length = 0.6, .angles = {1, 2}}}}},
    {"Pendulum-v1", {.links = {{.length = 1, .angles = {0}, .sense = -1}}}},
    {"Acrobot-v1",
     {.links = {{.length = 1, .angles = {0}, .hangs = true}, {.length = 1, .angles = {0, 1}, .hangs = true}}}},
    {"double-pendulum", rllab_links},
    {"double-pendulum-mujoco", rllab_links},
};

}  // namespace

double Scene::reach() const {
  double sum = 0;
  for (const Link& link : links) sum += link.length;
  return sum;
}

const Scene* find_scene(std::string_view environment) {
  const auto place = scenes.find(environment);
  return place == scenes.end() ? nullptr : &place->second;
}

const Scene& scene_of(std::string_view environment) {
  if (const Scene* scene = find_scene(environment)) return *scene;
  std::vector<std::string> names;
  names.reserve(scenes.size());
  for (const auto& [name, scene] : scenes) names.push_back(name);
  fail(ErrorKind::usage, "there is no picture of '{}'; there is one of {}", environment, fmt::join(names, ", "));
}

std::vector<Point> joints(const Scene& scene, std::span<const double> state) {
  std::vector<Point> points{{scene.cart < 0 ? 0 : state[static_cast<std::size_t>(scene.cart)], 0}};
  for (const Link& link : scene.links) {
    double angle = 0;
    for (const int index : link.angles) angle += state[static_cast<std::size_t>(index)];
    const double up = link.hangs ? -std::cos(angle) : std::cos(angle);
    points.push_back(
        {points.back().x + link.sense * link.length * std::sin(angle), points.back().y + link.length * up});
  }
  return points;
}

}  // namespace stein::agents
