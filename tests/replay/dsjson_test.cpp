// Lines written by hand from the published format, and what of them is no event.
#include <stein/replay/dsjson.h>
#include <stein/replay/feature_hash.h>
#include <stein/replay/log_reader.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

using namespace stein;
using namespace stein::replay;

namespace {

const std::string label = R"("_label_cost":-1.0,"_label_probability":0.25,"_label_Action":2,"_labelIndex":1)";
const std::string chosen = R"("a":[2,1],"p":[0.25,0.75])";
const std::string context_text =
    R"({"User":{"age":3.5,"city":"Paris","_hidden":9,"new":true,"old":false,"none":null},"_multi":[)"
    R"({"Action":{"id":"tea","price":2}},{"Action":{"id":"cake","price":0.5},"tags":["sweet",{"hot":1}],"v":[4,null,5]}]})";
const std::string extra = R"("Timestamp":"1970-01-01T00:00:07.5Z","Version":"1","EventId":"e1")";

/// A line of the parts; empty ones are left out.
std::string object(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "{" : ",") + part;
  return text + "}";
}
std::string c(const std::string& value) {
  return "\"c\":" + value;
}

const std::string line = object({label, extra, chosen, c(context_text), R"("VWState":{"m":"N/A"})"});

Dsjson::Options options(std::int64_t shared, std::int64_t action, const std::string& arm_id = "") {
  Dsjson::Options result;
  result.shared_features = shared, result.action_features = action, result.arm_id = arm_id;
  return result;
}

std::string reason(const std::string& text, const std::string& arm_id = "") {
  Dsjson format(options(8, 8, arm_id));
  ArmTable arms(5);
  LoggedEvent event;
  const LineVerdict verdict = format.read(text, arms, event);
  REQUIRE((verdict.kind == LineVerdict::Kind::bad) == !verdict.reason.empty());
  if (verdict.kind == LineVerdict::Kind::bad) CHECK(arms.size() == 0);
  return std::string(verdict.reason);
}

LineVerdict::Kind kind(const std::string& text) {
  ArmTable arms(5);
  LoggedEvent event;
  return Dsjson(options(8, 8)).read(text, arms, event).kind;
}

}  // namespace

TEST_CASE("a line of dsjson is an event with every number of it", "[replay][dsjson]") {
  constexpr std::size_t columns = 64;
  Dsjson format(options(columns, columns, "Action.id"));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read(line, arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.time == 7);
  CHECK(event.present == std::vector<std::int32_t>{0, 1});
  CHECK(arms.name(0) == "tea");
  CHECK(arms.name(event.action) == "cake");
  CHECK(event.reward == 1);
  CHECK(event.propensity == 0.25);
  CHECK(event.weight == 1);

  std::vector<float> shared(columns), actions(2 * columns);
  ColumnUse use(static_cast<std::int64_t>(columns));
  const std::uint64_t user = hash_name("User");
  add_hashed(hash_name("age", user), 3.5F, shared, use);
  add_hashed(hash_name("Paris", hash_name("city", user)), 1, shared, use);
  add_hashed(hash_name("new", user), 1, shared, use);
  CHECK(event.dense == shared);

  const std::uint64_t action = hash_name("Action");
  const std::span first = std::span(actions).first(columns), second = std::span(actions).last(columns);
  add_hashed(hash_name("tea", hash_name("id", action)), 1, first, use);
  add_hashed(hash_name("price", action), 2, first, use);
  add_hashed(hash_name("cake", hash_name("id", action)), 1, second, use);
  add_hashed(hash_name("price", action), 0.5F, second, use);
  add_hashed(hash_name("sweet", hash_name("tags")), 1, second, use);
  add_hashed(hash_name("hot", hash_name("tags")), 1, second, use);
  add_hashed(hash_name("0", hash_name("v")), 4, second, use);
  add_hashed(hash_name("2", hash_name("v")), 5, second, use);
  CHECK(event.arm_features == actions);
  CHECK(format.spec().context_size == columns);
}

TEST_CASE("an action without a feature that names it is called by its place", "[replay][dsjson]") {
  Dsjson format(options(4, 0));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read(line, arms, event).kind == LineVerdict::Kind::event);
  CHECK(arms.name(0) == "1");
  CHECK(arms.name(1) == "2");
  CHECK(event.action == 1);
  CHECK(event.arm_features.empty());
  Dsjson numbered(options(4, 0, "n"));
  CHECK(numbered.read(object({label, chosen, c(R"({"_multi":[{"n":70},{"n":80}]})")}), arms, event).kind ==
        LineVerdict::Kind::event);
  CHECK(arms.name(event.action) == "80");
}

TEST_CASE("what labels leave out is taken from the ranking", "[replay][dsjson]") {
  Dsjson format(options(4, 4));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read(object({R"("_label_cost":-0.5)", chosen, c(context_text)}), arms, event).kind ==
        LineVerdict::Kind::event);
  CHECK(event.action == 1);
  CHECK(event.propensity == 0.25);
  CHECK(event.reward == 0.5);
  CHECK(event.time == 0);
  const std::string by_action = R"("_label_cost":0,"_label_probability":0.5,"_label_Action":1)";
  CHECK(format.read(object({by_action, chosen, c(context_text)}), arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.action == 0);
  CHECK_FALSE(std::signbit(event.reward));
  // The probability of the action that was labelled, wherever it stands.
  const std::string without = R"("_label_cost":0,"_label_Action":1)";
  CHECK(format.read(object({without, chosen, c(context_text)}), arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.action == 0);
  CHECK(event.propensity == 0.75);
  CHECK(reason(object({without, R"("a":[2],"p":[1.0])", c(context_text)})) == "a probability that is no number");
}

TEST_CASE("the reward of a cost, and its range, are options", "[replay][dsjson]") {
  Dsjson::Options clicks = options(4, 4);
  clicks.reward_per_cost = 2, clicks.reward_low = -3;
  Dsjson format(clicks);
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read(line, arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.reward == -2);
  CHECK(format.spec().reward_low == -3);
  clicks.reward_low = 1;
  CHECK_ERROR(Dsjson(clicks), usage, "reward_low = 1", "reward_high = 1");
}

TEST_CASE("events of a kind that is dropped weigh more, and those that are not to be learnt from are none",
          "[replay][dsjson]") {
  Dsjson format(options(4, 4));
  ArmTable arms(5);
  LoggedEvent event;
  CHECK(format.read(object({label, chosen, c(context_text), R"("pdrop":0.75)"}), arms, event).kind ==
        LineVerdict::Kind::event);
  CHECK(event.weight == 4);
  CHECK(format.read(line, arms, event).kind == LineVerdict::Kind::event);
  CHECK(event.weight == 1);
  CHECK(reason(object({label, chosen, c(context_text), R"("pdrop":1)"})) == "a `pdrop` that is not in [0, 1)");
  CHECK(reason(object({label, chosen, c(context_text), R"("pdrop":-0.5)"})) == "a `pdrop` that is not in [0, 1)");
  CHECK(kind(object({label, R"("_skipLearn":true)", chosen, c(context_text)})) == LineVerdict::Kind::other);
  CHECK(kind(object({label, R"("_skipLearn":false)", chosen, c(context_text)})) == LineVerdict::Kind::event);
}

TEST_CASE("lines without a decision are no events, and not bad", "[replay][dsjson]") {
  for (const std::string& text :
       {std::string(), std::string("{}"), object({c(context_text)}), object({chosen, c(context_text)}),
        object({label, chosen}), object({label, c(context_text)}), object({label, R"("a":[])", c(context_text)}),
        std::string(R"({"RewardValue":1.0,"EnqueuedTimeUtc":"2018-01-03T20:12:20.028Z","EventId":"e1"})")}) {
    CAPTURE(text);
    CHECK(kind(text) == LineVerdict::Kind::other);
  }
}

TEST_CASE("a line that is no event of dsjson says why, and names no arms", "[replay][dsjson]") {
  const auto with = [](const std::string& labels) { return object({labels, chosen, c(context_text)}); };
  const auto of = [](const std::string& value) { return object({label, chosen, c(value)}); };
  const std::string huge = R"("_label_cost":0,"_label_probability":1,"_labelIndex":)";
  const auto [text, why] = GENERATE_COPY(table<std::string, std::string>({
      {"nonsense", "no JSON object"},
      {"[1]", "no JSON object"},
      {line.substr(0, line.size() / 2), "no JSON object"},
      {R"({"_label_cost":NaN})", "no JSON object"},
      {R"({"a":"\xff"})", "no JSON object"},
      {with(R"("_label_cost":"NaN")"), "a cost that is no number"},
      {with(R"("_label_cost":1e999)"), "a number in it is none, or too large"},
      {with(R"("_label_cost":1)"), "a reward that is not between `reward_low` and `reward_high`"},
      {with(R"("_label_cost":0,"_label_probability":"x")"), "a probability that is no number"},
      {with(R"("_label_cost":0,"_label_probability":0)"), "a probability that is not in (0, 1]"},
      {with(R"("_label_cost":0,"_label_probability":-0.5)"), "a probability that is not in (0, 1]"},
      {with(R"("_label_cost":0,"_label_probability":1.5)"), "a probability that is not in (0, 1]"},
      {with(huge + "2"), "the chosen action is not among those to choose from"},
      {with(huge + "1000000000000000000"), "the chosen action is not among those to choose from"},
      {with(huge + "18446744073709551615"), "the chosen action is not among those to choose from"},
      {with(R"("_label_cost":0,"_label_probability":1,"_label_Action":0)"),
       "the chosen action is not among those to choose from"},
      {with(huge + R"(1,"_label_Action":1)"), "two labels that name different actions"},
      {object({label, chosen, c(context_text), R"("Timestamp":"now")"}), "no timestamp"},
      {of("7"), "a context that is no object"},
      {of("{}"), "a context without actions"},
      {of(R"({"_multi":{}})"), "a context without actions"},
      {of(R"({"_multi":[]})"), "the chosen action is not among those to choose from"},
      {of(R"({"_multi":[1,2]})"), "an action that is no object"},
      {of(R"({"_multi":[{},{}],"_slots":[{}]})"), "a decision for several slots"},
      {of(R"({"_multi":[{},{},{},{},{},{}]})"), "more actions than the option `arms` allows"},
      {of(R"({"x":[[1]],"_multi":[{},{}]})"), "an array in an array, or a text that is none"},
      {of(R"({"_text":1,"_multi":[{},{}]})"), "an array in an array, or a text that is none"},
      {of(R"({"x":1e300,"_multi":[{},{}]})"), "a feature that is not finite"},
      {of(R"({"_multi":[{},{"x":-1e39}]})"), "a feature that is not finite"},
  }));
  CAPTURE(text);
  CHECK(reason(text) == why);
}

TEST_CASE("an action needs a name of its own where a feature names it", "[replay][dsjson]") {
  const auto of = [](const std::string& actions) { return object({label, chosen, c("{\"_multi\":" + actions + "}")}); };
  CHECK(reason(of(R"([{"id":"a"},{"id":"b"}])"), "id").empty());
  CHECK(reason(of(R"([{"id":"a"},{"id":"a"}])"), "id") == "an action twice");
  CHECK(reason(of(R"([{"id":"a"},{}])"), "id") == "an action without its `arm_id`");
  CHECK(reason(of(R"([{"id":"a"},{"id":1.5}])"), "id") == "an action without its `arm_id`");
  CHECK(reason(of(R"([{"id":"a"},{"id":null}])"), "id.x") == "an action without its `arm_id`");
}

TEST_CASE("JSON that is 100,000 deep, and a line of 10^6 actions, are bad lines", "[replay][dsjson]") {
  constexpr std::size_t depth = 100'000;
  std::string deep = object({label, chosen, "\"c\":"});
  deep.pop_back();
  for (std::size_t i = 0; i < depth; ++i) deep += "{\"a\":";
  CHECK(reason(deep + "1" + std::string(depth + 1, '}')) == "JSON that is nested too deep");
  CHECK(reason(std::string(depth, '[') + std::string(depth, ']')) == "JSON that is nested too deep");
  std::string wide = "{\"_multi\":[{}";
  for (int i = 1; i < 1'000'000; ++i) wide += ",{}";
  CHECK(reason(object({label, chosen, c(wide + "]}")})) == "more actions than the option `arms` allows");
}

TEST_CASE("a single action is an event, chosen with certainty", "[replay][dsjson]") {
  CHECK(kind(object({R"("_label_cost":0,"a":[1],"p":[1.0])", c(R"({"_multi":[{}]})")})) == LineVerdict::Kind::event);
}

TEST_CASE("an event that was there already is a bad line, also for a reader that was restored", "[replay][dsjson]") {
  const test::TemporaryDirectory folder;
  const auto event_line = [](int i) {
    return object({label, chosen, c(context_text), "\"EventId\":\"e" + std::to_string(i) + "\""}) + "\n";
  };
  const std::string text = event_line(1) + event_line(2) + event_line(1) + event_line(3) + event_line(2);
  const auto reader = [&] {
    return LogReader({test::write(folder / "log", text)}, std::make_unique<Dsjson>(options(4, 4)), 5);
  };
  LogReader log = reader(), other = reader();
  LoggedEvent event;
  REQUIRE(log.next(event));
  REQUIRE(log.next(event));
  Snapshot saved;
  log.save(saved);
  other.restore(saved);
  while (other.next(event)) {
  }
  CHECK(other.events() == 3);
  CHECK(other.bad_lines() == std::map<std::string, std::int64_t>{{"an event that was there already", 2}});
  LogReader strict({folder / "log"}, std::make_unique<Dsjson>(options(4, 4)), 5, BadLines::stop);
  CHECK_ERROR(
      [&] {
        while (strict.next(event)) {
        }
      }(),
      data, (folder / "log").string(), "line 3", "an event that was there already");
}

TEST_CASE("the last 65,536 identifiers are known, and no others", "[replay][dsjson]") {
  RecentIds ids;
  const auto add = [](RecentIds& recent, int begin, int end) {
    for (int i = begin; i < end; ++i) recent.add("id" + std::to_string(i));
  };
  constexpr int most = 65'536;
  add(ids, 0, most);
  CHECK(ids.contains("id0"));
  add(ids, most, most + 10);
  CHECK_FALSE(ids.contains("id9"));
  CHECK(ids.contains("id10"));
  Snapshot saved;
  ids.save(saved);
  RecentIds restored;
  restored.restore(saved);
  add(restored, most + 10, most + 11);
  CHECK_FALSE(restored.contains("id10"));
  CHECK(restored.contains("id11"));
  CHECK(restored.contains("id" + std::to_string(most + 10)));
  Snapshot twice;
  twice.put("recent_ids", std::vector<std::uint64_t>{1, 1});
  CHECK_ERROR(restored.restore(twice), data, "each once");
}

TEST_CASE("a context is read alone, or from a line whose outcome does not count", "[replay][dsjson]") {
  Dsjson format(options(16, 16, "Action.id"));
  ArmTable arms(5);
  LoggedEvent decision, alone, whole;
  CHECK(format.read(line, arms, decision).kind == LineVerdict::Kind::event);
  CHECK(format.read_context(context_text, arms, alone).kind == LineVerdict::Kind::event);
  CHECK(format.read_context(line, arms, whole).kind == LineVerdict::Kind::event);
  for (const LoggedEvent& event : {alone, whole}) {
    CHECK(event.dense == decision.dense);
    CHECK(event.present == decision.present);
    CHECK(event.arm_features == decision.arm_features);
  }
  CHECK(format.read_context("", arms, alone).kind == LineVerdict::Kind::other);
  CHECK(format.read_context("{}", arms, alone).reason == "no context");
  CHECK(format.read_context(R"({"_multi":[]})", arms, alone).reason == "no actions to choose from");
  CHECK(format.read_context("x", arms, alone).reason == "no JSON object");
}

TEST_CASE("a line of dsjson is recognised", "[replay][dsjson]") {
  CHECK(Dsjson::recognises(line));
  CHECK(Dsjson::recognises(R"({"RewardValue":1.0,"EventId":"e1"})"));
  CHECK_FALSE(Dsjson::recognises(R"({"a":1})"));
  CHECK_FALSE(Dsjson::recognises("0:1:0.5 | a"));
}
