// Options described once: setting, reading back, TOML, and the sentences of wrong input.
#include <stein/core/options.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;

namespace {

enum class Kernel { rbf, linear };

struct Inner {
  double bandwidth = 1.5;
  template <class V>
  void describe(V& v) {
    v("bandwidth", bandwidth, "width", positive, "m");
  }
};

struct Outer {
  bool flag = false;
  std::int64_t steps = 10;
  double rate = 0.25;
  double offset = 0;
  std::string label = "plain \"quoted\" é";
  std::vector<std::int64_t> widths{50, 50};
  Kernel kernel = Kernel::rbf;
  Inner inner;
  template <class V>
  void describe(V& v) {
    v("flag", flag, "a switch");
    v("steps", steps, "how many", between(1, 1e6));
    v("rate", rate, "how fast", probability);
    v("offset", offset, "where from");
    v("label", label, "a text");
    v("widths", widths, "a list", at_least(1));
    v("kernel", kernel, "a choice", {{"rbf", Kernel::rbf}, {"linear", Kernel::linear}});
    v.part("inner", inner);
  }
};

struct Count {
  std::int64_t count = 0;
  template <class V>
  void describe(V& v) {
    v("count", count, "of anything", any_number);
  }
};

struct Lists {
  std::vector<std::string> files{"a b.gz", "c\"d"}, none;
  template <class V>
  void describe(V& v) {
    v("files", files, "in order");
    v("none", none, "nothing");
  }
};

struct Place {
  std::filesystem::path file;
  template <class V>
  void describe(V& v) {
    v("file", file, "somewhere");
  }
};

}  // namespace

TEST_CASE("a file is kept with all of its folders, and none stays none", "[core][options]") {
  Place place;
  OptionTable table = OptionTable::of(place);
  CHECK(table.get("file").empty());
  table.set("file", "sub/../table.csv");
  CHECK(place.file == std::filesystem::current_path() / "table.csv");
  CHECK(table.get("file") == place.file.string());
  table.set("file", table.get("file"));
  CHECK(place.file == std::filesystem::current_path() / "table.csv");
  CHECK(to_toml(table) == "file = '" + place.file.string() + "'\n");
  table.set("file", "");
  CHECK(place.file.empty());
}

TEST_CASE("every kind of option is set from text and reads back", "[core][options]") {
  Outer options;
  OptionTable table = OptionTable::of(options);
  table.set("flag", "true");
  table.set("steps", "1e4");
  table.set("rate", ".5");
  table.set("label", "x");
  table.set("widths", "3,4,5");
  table.set("kernel", "linear");
  table.set("inner.bandwidth", "2");
  CHECK(options.flag);
  CHECK(options.steps == 10000);
  CHECK(options.rate == 0.5);
  CHECK(options.label == "x");
  CHECK(options.widths == std::vector<std::int64_t>{3, 4, 5});
  CHECK(options.kernel == Kernel::linear);
  CHECK(options.inner.bandwidth == 2);
  CHECK(table.get("kernel") == "linear");
  CHECK(table.get("widths") == "3,4,5");
  table.set("widths", "none");
  CHECK(options.widths.empty());
}

TEST_CASE("a list of texts is set from one text, and from a list in a file", "[core][options]") {
  Lists lists, read;
  OptionTable table = OptionTable::of(lists), other = OptionTable::of(read);
  CHECK(table.get("files") == "a b.gz,c\"d");
  CHECK(table.get("none") == "none");
  CHECK(to_toml(table) == "files = ['a b.gz', 'c\"d']\nnone = []\n");
  table.set("files", "one,two");
  table.set("none", "x");
  table.set("none", "");
  set_from_toml(other, to_toml(table), "options.toml");
  CHECK(read.files == std::vector<std::string>{"one", "two"});
  CHECK(read.none.empty());
  table.set("files", "none");
  CHECK(lists.files.empty());
  for (const char* text : {",", "a,", ",a", "a,,b"})
    CHECK_ERROR(table.set("files", text), usage, "files", "texts between commas");
}

TEST_CASE("a group sets its options at once, and one that is named by itself wins", "[core][options]") {
  Count first, second;
  OptionTable table;
  table.part("first", first);
  table.part("second", second);
  table.group("count", {"first.count", "second.count"});
  table.set("count", "7");
  CHECK(first.count == 7);
  CHECK(second.count == 7);
  CHECK(table.contains("count"));
  set_from_toml(table, "count = 3\n[alone]\n", "options.toml");
  set_from_toml(table, "first.count = 5\ncount = 4\n", "options.toml");
  CHECK(first.count == 5);
  CHECK(second.count == 4);
  CHECK(to_toml(table) == "first.count = 5\nsecond.count = 4\n");
  CHECK_ERROR(table.set("count", "x"), usage, "first.count", "'x'");
  CHECK_ERROR(table.set("cuont", "1"), usage, "unknown option 'cuont'", "'count'");
  CHECK_ERROR(table.group("first.count", {"second.count"}), usage, "an option already");
  CHECK_ERROR(table.group("counts", {"third.count"}), usage, "unknown option 'third.count'");
  CHECK_ERROR(table.group("counts", {}), usage, "no options");
}

TEST_CASE("a range holds its ends unless they are open, and says so", "[core][options]") {
  const Range open{.low = 0, .high = 1, .low_open = true, .high_open = true}, half{.high = 2, .high_open = true};
  CHECK(probability.contains(0));
  CHECK(probability.contains(1));
  CHECK_FALSE(open.contains(0));
  CHECK(open.contains(0.5));
  CHECK_FALSE(open.contains(1));
  CHECK_FALSE(half.contains(2));
  CHECK(probability.text() == "in [0, 1]");
  CHECK(open.text() == "in (0, 1)");
  CHECK(half.text() == "< 2");
  CHECK(positive.text() == "> 0");
  CHECK(at_least(3).text() == "≥ 3");
  CHECK(any_number.text() == "any number");
}

TEST_CASE("whole numbers may be typed with an exponent, as long as they are whole and can be counted",
          "[core][options]") {
  Count options;
  OptionTable table = OptionTable::of(options);
  table.set("count", "1e13");
  CHECK(options.count == 10'000'000'000'000);
  table.set("count", "-2.5e3");
  CHECK(options.count == -2500);
  table.set("count", "9007199254740993");  // 2^53 + 1, which no double holds
  CHECK(options.count == 9'007'199'254'740'993);
  CHECK_ERROR(table.set("count", "1e-1"), usage, "whole number");
  CHECK_ERROR(table.set("count", "1e30"), usage, "count");
}

TEST_CASE("TOML written from options gives the same options", "[core][options]") {
  Outer options, again;
  options.rate = 1.0 / 3;
  options.widths = {};
  options.kernel = Kernel::linear;
  const std::string toml = to_toml(OptionTable::of(options));
  OptionTable table = OptionTable::of(again);
  set_from_toml(table, toml, "config.toml");
  CHECK(again.rate == options.rate);
  CHECK(again.label == options.label);
  CHECK(again.widths.empty());
  CHECK(to_toml(OptionTable::of(again)) == toml);
}

TEST_CASE("an option by the name that another library has for it is answered with the name here", "[core][options]") {
  struct Learning {
    double discount = 0.99, step_size = 0.1;
    std::int64_t steps_per_slot = 16;
  } options;
  OptionTable table;
  table("discount", options.discount, "γ");
  table("step_size", options.step_size, "h");
  table("steps_per_slot", options.steps_per_slot, "steps of a slot");
  CHECK_ERROR(table.set("gamma", "1"), usage, "unknown option 'gamma'. Did you mean 'discount'?");
  CHECK_ERROR(table.set("lr", "1"), usage, "unknown option 'lr'. Did you mean 'step_size'?");
  CHECK_ERROR(table.set("learning_rate", "1"), usage, "Did you mean 'step_size'?");
  CHECK_ERROR(table.set("n_steps", "1"), usage, "Did you mean 'steps_per_slot'?");
  CHECK_ERROR(table.set("clip_range", "1"), usage,
              "unknown option 'clip_range'. Known: discount");  // no clip_ratio here
}

TEST_CASE("wrong input is a sentence that names key, value, range and the nearest key", "[core][options]") {
  Outer options;
  OptionTable table = OptionTable::of(options);
  CHECK_ERROR(table.set("step", "3"), usage, "step", "Did you mean 'steps'?");
  CHECK_ERROR(table.set("bandwidth", "3"), usage, "Did you mean 'inner.bandwidth'?");
  CHECK_ERROR(table.set("steps", "0"), usage, "steps", "[1, 1", "got 0");
  CHECK_ERROR(table.set("steps", "2.5"), usage, "whole number", "2.5");
  CHECK_ERROR(table.set("steps", "99999999999999999999"), usage, "steps");
  CHECK_ERROR(table.set("rate", "nan"), usage, "rate");
  CHECK_ERROR(table.set("inner.bandwidth", "inf"), usage, "'inner.bandwidth' must be a finite number, got inf");
  CHECK_ERROR(table.set("offset", "-infinity"), usage, "'offset' must be a finite number");
  CHECK_ERROR(table.set("offset", "nan"), usage, "'offset' must be a finite number");
  CHECK_ERROR(set_from_toml(table, "offset = inf\n", "my.toml"), usage, "my.toml, line 1", "finite");
  CHECK_ERROR(table.set("rate", "fast"), usage, "a number", "fast");
  CHECK_ERROR(table.set("kernel", "linaer"), usage, "rbf | linear", "Did you mean 'linear'?");
  CHECK_ERROR(table.set("flag", "yes"), usage, "true or false", "yes");
  CHECK_ERROR(table.set("widths", "3,"), usage, "widths");
  CHECK_ERROR(table.set("inner.bandwidth", "0"), usage, "> 0");
  CHECK_ERROR(set_from_toml(table, "steps = 5\nrates = 1\n", "my.toml"), usage, "my.toml, line 2", "rates");
  CHECK_ERROR(set_from_toml(table, "steps = 5\nkernel = [0, 1]\n", "my.toml"), usage, "my.toml, line 2", "quotes");
  CHECK_ERROR(set_from_toml(table, "kernel = 3\n", "my.toml"), usage, "my.toml, line 1", "'kernel'", "quotes");
  CHECK_ERROR(set_from_toml(table, "rate = [0.5]\n", "my.toml"), usage, "my.toml, line 1", "got a list");
  CHECK_ERROR(set_from_toml(table, "steps = = 5\n", "my.toml"), usage, "my.toml, line 1");
}

TEST_CASE("help names every option with default, range, unit and choices", "[core][options]") {
  Outer options;
  const std::string help = help_text(OptionTable::of(options));
  for (const char* part : {"inner.bandwidth", "> 0", " m", "rbf | linear", "default 10", "in [0, 1]"})
    CHECK_THAT(help, Catch::Contains(part));
}

TEST_CASE("a Markdown table names them too, and no bar of a text ends a cell", "[core][options]") {
  Outer options;
  const std::string table = markdown_text(OptionTable::of(options));
  CHECK_THAT(table, Catch::Contains("| `kernel` | rbf | rbf \\| linear | a choice |\n") &&
                        Catch::Contains("| `inner.bandwidth` | 1.5 | > 0, m | width |\n"));
}

TEST_CASE("keys and values of a TOML text are those that were typed, whatever the table", "[core][options]") {
  const auto values =
      values_from_toml("a = 2.0\nlist = [1, 2]\nnone = []\n[part]\nname = \"x y\"\non = true\n", "f.toml");
  CHECK(values == std::map<std::string, std::string>{
                      {"a", "2"}, {"list", "1,2"}, {"none", "none"}, {"part.name", "x y"}, {"part.on", "true"}});
  CHECK_ERROR(values_from_toml("a = = 2", "f.toml"), usage, "f.toml, line 1");
}

TEST_CASE("an option is described once, and keeps its default and its value in older runs", "[core][options]") {
  double step = 0.5;
  OptionTable table;
  table("step", step, "how far", positive).in_older_runs("0.1");
  table.set("step", "2");
  CHECK(table.at("step").default_text == "0.5");
  CHECK(table.at("step").older_value == "0.1");
  CHECK_ERROR(table("step", step, "again", positive), usage, "'step' is described twice");
}

TEST_CASE("presets are of options that the component has, under the names that they have in the whole",
          "[core][options]") {
  struct Kernel {
    double bandwidth = 1;
    void describe(OptionTable& v) {
      v("bandwidth", bandwidth, "width", positive);
      v.preset("paper", "Somebody 2018", {{"bandwidth", "3"}});
    }
  } kernel;
  OptionTable table;
  table.part("kernel", kernel);
  REQUIRE(table.presets().size() == 1);
  CHECK(table.presets()[0].settings == std::map<std::string, std::string>{{"kernel.bandwidth", "3"}});
  CHECK_ERROR(table.preset("other", "", {{"bandwith", "3"}}), usage, "bandwith");
}

TEST_CASE("options that were filled in by hand are held to the same ranges", "[core][options]") {
  CHECK(checked(Outer{.steps = 7}).steps == 7);
  CHECK_ERROR(checked(Outer{.steps = 0}), usage, "'steps' must be in [1, 1", "got 0");
  CHECK_ERROR(checked(Outer{.widths = {3, -1}}), usage, "'widths'", "got -1");
  CHECK_ERROR(checked(Outer{.inner = {.bandwidth = -1}}), usage, "'inner.bandwidth'");
}
