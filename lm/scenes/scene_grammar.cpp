#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/core/shuffle.h>
#include <stein/lm/scenes/scene_grammar.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace stein::lm {
namespace {

/// "big red ", each word with a space behind it.
std::string properties_text(const Description& description, const WordChoice& choose) {
  std::string text;
  if (description.size) text += fmt::format("{} ", choose(words_of(*description.size)));
  if (description.colour) text += fmt::format("{} ", choose(words_of(*description.colour)));
  return text;
}

/// Writes captions of one scene.
class Writer {
 public:
  Writer(const Scene& scene, Draws& draws) : scene_(scene), draws_(draws) {}

  std::string caption() {
    constexpr double list = 2, sides = 2, relation = 3, relations = 2, numbers = 2;
    switch (draws_.categorical(std::array{list, sides, relation, relations, numbers})) {
      case 0: return listed();
      case 1: return with_sides();
      case 2: return related(1);
      case 3: return related(2);
      default: return numbered();
    }
  }

 private:
  bool chance(double probability) { return draws_.uniform() < probability; }

  template <class Items>
  auto& one_of(Items& items) {
    return items[draws_.integer(static_cast<std::uint32_t>(std::size(items)))];
  }

  /// The most usual word in six of ten cases, otherwise any.
  WordChoice choice() {
    return [this](Synonyms words) { return chance(0.6) ? words.front() : one_of(words); };
  }

  std::vector<const SceneObject*> shuffled() {
    std::vector<const SceneObject*> objects;
    for (const SceneObject& object : scene_.objects) objects.push_back(&object);
    shuffle(std::span(objects), draws_);
    return objects;
  }

  /// The object by some of its properties; by its colour where its shape is not said.
  std::string mention(const SceneObject& object) {
    Description description{.size = object.size, .colour = object.colour, .shape = object.shape};
    if (chance(0.4)) description.size.reset();
    if (chance(0.1))
      description.shape.reset();
    else if (chance(0.15))
      description.colour.reset();
    return object_phrase(description, choice());
  }

  /// An opening that `own` may stand among, and a space behind it.
  std::string opening(std::string_view own) {
    const std::uint32_t drawn = draws_.integer(static_cast<std::uint32_t>(openings.size()) + 1);
    const std::string_view words = drawn < openings.size() ? openings[drawn] : own;
    return words.empty() ? "" : std::string(words) + " ";
  }

  std::string listed() {
    std::string text = opening(singular_opening);
    const char* joint = "";
    for (const SceneObject* object : shuffled()) text += std::exchange(joint, " and ") + mention(*object);
    return text;
  }

  /// One of the sides on which the object clearly lies; empty if there is none.
  std::string side_of(const SceneObject& object) {
    std::vector<Side> sides;
    for (int i = 0; i < side_count; ++i)
      if (lies_on(object, static_cast<Side>(i))) sides.push_back(static_cast<Side>(i));
    return sides.empty() ? "" : std::string(choice()(phrases_of(one_of(sides))));
  }

  /// Some of the objects, most of them with their sides.
  std::string with_sides() {
    std::vector<const SceneObject*> objects = shuffled();
    objects.resize(1 + draws_.integer(static_cast<std::uint32_t>(objects.size())));
    if (objects.size() == 1 && chance(0.5))
      if (const std::string side = side_of(*objects.front()); !side.empty())
        return mention(*objects.front()) + " is " + side;
    std::string text = opening(singular_opening);
    const char* joint = "";
    for (const SceneObject* object : objects) {
      text += std::exchange(joint, " and ") + mention(*object);
      const std::string side = chance(0.8) ? side_of(*object) : "";
      if (!side.empty()) text += " " + side;
    }
    return text;
  }

  /// A relation that clearly holds, in words; empty if there is none.
  std::string relation_of(const SceneObject& subject, const SceneObject& other) {
    std::vector<Relation> relations;
    for (int i = 0; i < relation_count; ++i)
      if (holds(static_cast<Relation>(i), subject, other)) relations.push_back(static_cast<Relation>(i));
    return relations.empty() ? "" : std::string(choice()(phrases_of(one_of(relations))));
  }

  /// An object with its relations to up to `most` others; a list where it has none.
  std::string related(std::size_t most) {
    const std::vector<const SceneObject*> objects = shuffled();
    std::string relations;
    const char* joint = "";
    for (std::size_t i = 1; i < objects.size() && i <= most; ++i)
      if (const std::string relation = relation_of(*objects.front(), *objects[i]); !relation.empty())
        relations += std::exchange(joint, " and ") + relation + " " + mention(*objects[i]);
    if (relations.empty()) return listed();
    const std::string subject = mention(*objects.front());
    if (chance(0.4)) return subject + " is " + relations;
    return opening(singular_opening) + subject + " " + relations;
  }

  /// How many objects there are: of each shape, in two of five cases; of each size, of each colour, or in all.
  std::string numbered() {
    using Group = std::tuple<std::optional<ObjectSize>, std::optional<Colour>, std::optional<Shape>>;
    const std::uint32_t property = draws_.integer(5);
    std::map<Group, int> counts;
    for (const SceneObject& object : scene_.objects) {
      Group group;
      if (property == 1) std::get<0>(group) = object.size;
      if (property == 2) std::get<1>(group) = object.colour;
      if (property >= 3) std::get<2>(group) = object.shape;
      ++counts[group];
    }
    std::vector<std::pair<Group, int>> groups(counts.begin(), counts.end());
    if (chance(0.5)) std::ranges::reverse(groups);
    std::string text = opening(groups.front().second == 1 ? singular_opening : plural_opening);
    const char* joint = "";
    for (const auto& [group, count] : groups) {
      const auto& [size, colour, shape] = group;
      text += std::exchange(joint, " and ") + number_phrase(count, {size, colour, shape}, choice());
    }
    return text;
  }

  const Scene& scene_;
  Draws& draws_;
};

}  // namespace

std::string object_phrase(const Description& description, const WordChoice& choose) {
  const std::string properties = properties_text(description, choose);
  return fmt::format("a {}{}", properties, choose(nouns_of(description.shape)));
}

std::string number_phrase(int count, const Description& description, const WordChoice& choose) {
  STEIN_CHECK(count >= 1 && count <= 3, "captions of scenes have the numbers 1 to 3, got {}", count);
  const std::string properties = properties_text(description, choose);
  const std::string_view noun = choose(nouns_of(description.shape));
  return fmt::format("{} {}{}", number_words[static_cast<std::size_t>(count - 1)], properties,
                     count == 1 ? std::string(noun) : plural_of(noun));
}

std::vector<std::string> draw_captions(const Scene& scene, std::uint64_t seed, std::uint32_t index,
                                       std::int64_t count) {
  STEIN_CHECK(count >= 1 && count <= 20, "a scene has 1 to 20 captions, got {}", count);
  STEIN_CHECK(!scene.objects.empty() && scene.objects.size() <= 3, "a scene has one to three objects, got {}",
              scene.objects.size());
  Draws draws({.seed = seed, .step = 2, .stream = Stream::data}, index);
  Writer writer(scene, draws);
  std::vector<std::string> captions;
  while (std::ssize(captions) < count)
    if (std::string caption = writer.caption(); std::ranges::find(captions, caption) == captions.end())
      captions.push_back(std::move(caption));
  return captions;
}

}  // namespace stein::lm
