#include <stein/lm/scenes/caption_parser.h>
#include <stein/lm/scenes/scene_words.h>

#include <algorithm>

namespace stein::lm {
namespace {

constexpr std::size_t most_items = 3;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  if (text.empty()) return words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// Recursive descent without choices to take back: what may stand at a place differs in its first words. Each `take…`
/// goes on behind what it reads; where it does not find it, it stays.
class Parser {
 public:
  explicit Parser(std::string_view caption) : caption_(caption), words_(split(caption)) {}

  ParsedCaption parse() {
    if (take_caption() && at_ == words_.size()) return {.statement = std::move(statement_), .misfit = {}};
    if (furthest_ == words_.size()) return {.statement = std::nullopt, .misfit = std::string(caption_) + " …"};
    const std::string_view misfit = words_[furthest_];
    const auto length = static_cast<std::size_t>(misfit.data() + misfit.size() - caption_.data());
    return {.statement = std::nullopt, .misfit = std::string(caption_.substr(0, length))};
  }

 private:
  enum class Opening { none, any, singular, plural };

  /// Words that fit as far as they go count as read, even where the phrase goes on otherwise.
  bool take(std::string_view phrase) {
    std::size_t place = at_;
    for (const std::string_view word : split(phrase)) {
      if (place == words_.size() || words_[place] != word) return false;
      furthest_ = std::max(furthest_, ++place);
    }
    at_ = place;
    return true;
  }

  bool take_any(Synonyms phrases) {
    return std::ranges::any_of(phrases, [&](std::string_view phrase) { return take(phrase); });
  }

  /// The value, of `count`, one of whose words comes next.
  template <class Value, class Phrases>
  std::optional<Value> take_one(int count, const Phrases& phrases) {
    for (int i = 0; i < count; ++i)
      if (take_any(phrases(static_cast<Value>(i)))) return static_cast<Value>(i);
    return std::nullopt;
  }

  bool take_caption() {
    const Opening opening = take_opening();
    if (const std::optional<int> count = take_number(opening)) return take_numbers(*count);
    if (opening == Opening::plural || !take_object()) return false;
    const bool sentence = opening == Opening::none && take("is");
    if (const std::optional<Relation> relation = take_relation()) return take_others(*relation);
    return sentence ? take_side(0) : take_items();
  }

  Opening take_opening() {
    if (take(singular_opening)) return Opening::singular;
    if (take(plural_opening)) return Opening::plural;
    for (const std::string_view opening : openings)
      if (!opening.empty() && take(opening)) return Opening::any;
    return Opening::none;
  }

  /// A number that may stand behind the opening.
  std::optional<int> take_number(Opening opening) {
    for (std::size_t i = 0; i < number_words.size(); ++i) {
      const bool allowed = opening == Opening::singular ? i == 0 : opening != Opening::plural || i > 0;
      if (allowed && take(number_words[i])) return static_cast<int>(i) + 1;
    }
    return std::nullopt;
  }

  /// Size and colour as far as they are there.
  Description take_properties() {
    Description description;
    description.size = take_one<ObjectSize>(size_count, [](ObjectSize size) { return words_of(size); });
    description.colour = take_one<Colour>(colour_count, [](Colour colour) { return words_of(colour); });
    return description;
  }

  bool take_noun(bool plural, std::optional<Shape> shape) {
    return std::ranges::any_of(nouns_of(shape),
                               [&](std::string_view noun) { return take(plural ? plural_of(noun) : noun); });
  }

  /// A noun, whose shape is filled in.
  bool take_noun(bool plural, Description& description) {
    for (int i = 0; i < shape_count; ++i)
      if (take_noun(plural, static_cast<Shape>(i))) {
        description.shape = static_cast<Shape>(i);
        return true;
      }
    return take_noun(plural, std::nullopt);
  }

  bool take_object() {
    if (!take("a")) return false;
    Description description = take_properties();
    if (!take_noun(false, description)) return false;
    statement_.emplace_back(ObjectClaim{description});
    ++objects_;
    return true;
  }

  bool take_side(std::size_t object) {
    const auto side = take_one<Side>(side_count, [](Side value) { return phrases_of(value); });
    if (side) statement_.emplace_back(SideClaim{object, *side});
    return side.has_value();
  }

  std::optional<Relation> take_relation() {
    return take_one<Relation>(relation_count, [](Relation relation) { return phrases_of(relation); });
  }

  /// What may follow the first object and a relation.
  bool take_others(Relation relation) {
    if (!take_other(relation)) return false;
    if (!take("and")) return true;
    const std::optional<Relation> next = take_relation();
    return next && take_other(*next);
  }

  bool take_other(Relation relation) {
    if (!take_object()) return false;
    statement_.emplace_back(RelationClaim{0, relation, objects_ - 1});
    return true;
  }

  /// What may follow the first object.
  bool take_items() {
    take_side(0);
    while (objects_ < most_items && take("and")) {
      if (!take_object()) return false;
      take_side(objects_ - 1);
    }
    return true;
  }

  /// What may follow the first number.
  bool take_numbers(int count) {
    for (std::size_t numbers = 1;; ++numbers) {
      Description description = take_properties();
      if (!take_noun(count > 1, description)) return false;
      statement_.emplace_back(NumberClaim{count, description});
      if (numbers == most_items || !take("and")) return true;
      const std::optional<int> next = take_number(Opening::none);
      if (!next) return false;
      count = *next;
    }
  }

  std::string_view caption_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;        ///< words that were taken
  std::size_t furthest_ = 0;  ///< words that fitted some caption of the language
  std::size_t objects_ = 0;   ///< that the statement names so far
  Statement statement_;
};

}  // namespace

ParsedCaption parse_caption(std::string_view caption) {
  return Parser(caption).parse();
}

}  // namespace stein::lm
