#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/lm/captions/karpathy_captions.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein::lm {
namespace {

/// One image as JSON; the first `,` of `more` stands before keys of its own.
std::string image(const std::string& name, int number, const std::string& split, const std::string& sentences) {
  return R"({"filename": ")" + name + R"(", "imgid": )" + std::to_string(number) + R"(, "split": ")" + split +
         R"(", "sentids": [0], "sentences": [)" + sentences + "]}";
}

std::string set_of(const std::string& images) {
  return R"({"images": [)" + images + R"(], "dataset": "small"})";
}

const std::string held =
    image("v.jpg", 7, "val", R"({"raw": "a cat"})") + "," + image("t.jpg", 3, "test", R"({"raw": "a bird"})");

TEST_CASE("a file in Karpathy's form is read with its parts, and rows in the order of imgid", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  const std::string text = set_of(
      held + "," +
      image(
          "a.jpg", 5, "train",
          R"({"tokens": ["a", "dog"], "raw": "A dog .\n", "imgid": 5, "sentid": 0}, {"tokens": [], "raw": "\u00c9t\u00e9"})") +
      "," + image("r.jpg", 900, "restval", R"({"raw": "a horse"})"));
  write_file_atomically(folder / "dataset.json", text);
  const CaptionData data = read_karpathy_captions(folder / "dataset.json");
  CHECK(data.name == "small");
  CHECK_FALSE(data.has_features());
  REQUIRE(data.train.size() == 2);
  REQUIRE(data.validation.size() == 1);
  REQUIRE(data.test.size() == 1);
  CHECK(data.train[0].id == "a.jpg");
  CHECK(data.train[0].captions == std::vector<std::string>{"A dog .", "Été"});
  CHECK(data.train[1].id == "r.jpg");
  // 3, 5, 7, 900.
  CHECK(data.test[0].row == 0);
  CHECK(data.train[0].row == 1);
  CHECK(data.validation[0].row == 2);
  CHECK(data.train[1].row == 3);
  CHECK(data.checksums.at("dataset.json") == sha256(text));
}

TEST_CASE("a file that is not in Karpathy's form is refused by image and reason", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    write_file_atomically(folder / "d.json", text);
    test::check_error([&] { static_cast<void>(read_karpathy_captions(folder / "d.json")); }, ErrorKind::data, parts);
  };
  const std::string good = image("a.jpg", 1, "train", R"({"raw": "a dog"})") + "," + held;
  const auto with = [&](const std::string& more) { return set_of(good + "," + more); };
  refused("{", {"d.json' is no JSON"});
  refused("", {"d.json' is no JSON"});
  refused("[1]", {"expected an object", "\"images\""});
  refused(R"({"images": []})", {"d.json'", "\"dataset\" is missing"});
  refused(R"({"dataset": "x"})", {"d.json'", "\"images\" is missing"});
  refused(R"({"dataset": 3, "images": []})", {"d.json'", "a text as \"dataset\""});
  refused(R"({"dataset": "x", "images": {}})", {"d.json'", "a list as \"images\""});
  refused(R"({"dataset": "x", "images": []})", {"d.json'", "no image of the training part"});
  refused(set_of("3"), {"d.json'", "an object as item 1 of \"images\""});
  refused(set_of(held), {"no image of the training part"});
  refused(with(image("b.jpg", 9, "dev", R"({"raw": "x"})")), {"image 4 ('b.jpg')", "restval", "found 'dev'"});
  refused(with(R"({"imgid": 9, "split": "train", "sentences": []})"), {"image 4", "\"filename\" is missing"});
  refused(with(R"({"filename": "b.jpg", "split": "train", "sentences": []})"),
          {"image 4 ('b.jpg')", "\"imgid\" is missing"});
  refused(with(R"({"filename": "b.jpg", "imgid": "9", "split": "train", "sentences": []})"),
          {"image 4 ('b.jpg')", "a whole number as \"imgid\""});
  refused(with(R"({"filename": "b.jpg", "imgid": 9, "sentences": []})"), {"'b.jpg'", "\"split\" is missing"});
  refused(with(R"({"filename": "b.jpg", "imgid": 9, "split": "train"})"), {"'b.jpg'", "\"sentences\" is missing"});
  refused(with(image("b.jpg", 9, "train", "3")), {"'b.jpg'", "an object as item 1 of \"sentences\""});
  refused(with(image("b.jpg", 9, "train", R"({"raw": "x"}, {"tokens": []})")),
          {"'b.jpg'", "sentence 2", "\"raw\" is missing"});
  refused(with(image("b.jpg", 9, "train", R"({"raw": "x", "imgid": 8})")),
          {"'b.jpg'", "sentence 1", "of image 8, expected one of image 9"});
  refused(with(image("b.jpg", 9, "train", R"({"raw": " \n"})")), {"'b.jpg'", "caption 1 of 1 is empty"});
  refused(with(image("b.jpg", 9, "train", "")), {"'b.jpg'", "at least one caption"});
  refused(with(image("a.jpg", 9, "train", R"({"raw": "x"})")), {"the image 'a.jpg' twice"});
  refused(with(image("b.jpg", 7, "train", R"({"raw": "x"})")), {"'b.jpg'", "'v.jpg'", "the imgid 7"});
  refused(with(image("b.jpg", 9, "train", "{\"raw\": \"na\xefve\"}")), {"d.json' is no JSON", "UTF-8"});
  CHECK_ERROR(read_karpathy_captions(folder / "none.json"), data, "none.json");
}

}  // namespace
}  // namespace stein::lm
