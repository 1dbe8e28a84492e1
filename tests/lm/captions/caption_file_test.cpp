#include <stein/lm/captions/caption_file.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein::lm {
namespace {

using stein::test::write;

constexpr const char* good_references =
    R"({"info": {}, "images": [{"id": 7, "file_name": "x.jpg"}, {"id": "b"}, {"id": 3}],
  "annotations": [{"id": 1, "image_id": 3, "caption": "three"}, {"id": 2, "image_id": "b", "caption": "bee"},
                  {"id": 3, "image_id": 7, "caption": "seven"}, {"id": 4, "image_id": "7", "caption": "VII"}]})";
constexpr const char* good_captions =
    R"([{"image_id": "b", "caption": "b"}, {"image_id": 3, "caption": ""}, {"image_id": 7, "caption": "é"}])";

struct CaptionFiles {
  stein::test::TemporaryDirectory folder;

  std::vector<CandidateCaption> read(const std::string& captions,
                                     const std::string& references = good_references) const {
    return read_captions(write(folder / "captions.json", captions), write(folder / "references.json", references));
  }
};

TEST_CASE("captions find their references, whatever the order and whether ids are numbers or texts",
          "[lm][captions][caption-file]") {
  const CaptionFiles files;
  const std::vector<CandidateCaption> images = files.read(good_captions);
  REQUIRE(images.size() == 3);
  CHECK(images[0].id == "7");
  CHECK(images[0].caption == "é");
  CHECK(images[0].references == std::vector<std::string>{"seven", "VII"});
  CHECK(images[1].id == "b");
  CHECK(images[1].references == std::vector<std::string>{"bee"});
  CHECK(images[2].caption.empty());
  const auto packed = stein::test::write_gzip(files.folder / "captions.json.gz", good_captions);
  CHECK(read_captions(packed, files.folder / "references.json").size() == 3);
}

TEST_CASE("of images without a caption the others are left in their order, where it is asked for",
          "[lm][captions][caption-file]") {
  const CaptionFiles files;
  const auto captions = write(files.folder / "some.json",
                              R"([{"image_id": 3, "caption": "c"}, {"image_id": 7, "caption": "s"}])"),
             references = write(files.folder / "references.json", good_references);
  const std::vector<CandidateCaption> images = read_captions(captions, references, UncaptionedImages::left_out);
  REQUIRE(images.size() == 2);
  CHECK(images[0].id == "7");
  CHECK(images[0].references == std::vector<std::string>{"seven", "VII"});
  CHECK(images[1].id == "3");
  CHECK(images[1].caption == "c");
  CHECK_ERROR(read_captions(write(files.folder / "none.json", "[]"), references, UncaptionedImages::left_out), data,
              "none.json' has no caption");
}

TEST_CASE("files that are no JSON or have another shape are refused with their name and the entry",
          "[lm][captions][caption-file]") {
  const CaptionFiles files;
  CHECK_ERROR(read_captions(files.folder / "none.json", files.folder / "none.json"), data, "none.json' does not exist");
  CHECK_ERROR(files.read("[{\"image_id\": 3,\n]"), data, "captions.json' is no JSON", "line 2");
  CHECK_ERROR(files.read("[\"\xff\"]"), data, "captions.json' is no JSON", "UTF-8");
  CHECK_ERROR(files.read(""), data, "captions.json' is no JSON");
  CHECK_ERROR(files.read("[1e999]"), data, "captions.json' is no JSON", "1e999");
  CHECK_ERROR(files.read("{}"), data, "captions.json'", "expected a list", "found object");
  CHECK_ERROR(files.read("[3]"), data, "captions.json', entry 1", "expected an object", "number 3");
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": "x"}, {"caption": "x"}])"), data, "entry 2", "no \"image_id\"");
  CHECK_ERROR(files.read(R"([{"image_id": 3}])"), data, "entry 1", "no \"caption\"");
  CHECK_ERROR(files.read(R"([{"image_id": 3.5, "caption": "x"}])"), data, "entry 1", "\"image_id\"",
              "found number 3.5");
  CHECK_ERROR(files.read(R"([{"image_id": null, "caption": "x"}])"), data, "entry 1", "found null");
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": ["x"]}])"), data, "entry 1", "\"caption\"", "found array");
  CHECK_ERROR(files.read(good_captions, "[]"), data, "references.json'", "\"images\" and \"annotations\"",
              "found array");
  CHECK_ERROR(files.read(good_captions, R"({"images": [{"id": 1}]})"), data, "references.json'",
              "without a list \"annotations\"");
  CHECK_ERROR(files.read(good_captions, R"({"images": {}, "annotations": []})"), data, "references.json'",
              "without a list \"images\"");
  CHECK_ERROR(files.read(good_captions, R"({"images": [], "annotations": []})"), data,
              "references.json' has no images");
  CHECK_ERROR(files.read(good_captions, R"({"images": [{"id": 1}], "annotations": [{"caption": "x"}]})"), data,
              "references.json', entry 1 of \"annotations\"", "no \"image_id\"");
}

TEST_CASE("what an error tells of a file is one line, however deep and odd the file is",
          "[lm][captions][caption-file]") {
  const CaptionFiles files;
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');  // to write it needs 200,000 calls
  CHECK_ERROR(files.read("[" + deep + "]"), data, "captions.json', entry 1", "found array");
  CHECK_ERROR(files.read(R"([{"image_id": )" + deep + "}]"), data, "entry 1", "\"image_id\", found array");
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": )" + deep + "}]"), data, "\"caption\", found array");
  CHECK_ERROR(files.read(R"(["x)" + std::string(58, 'y') + "é\"]"), data, "found string \"x", "y�\"");
  CHECK_ERROR(files.read(R"([{"image_id": "a\u001b\n", "caption": ""}])"), data, "image a\\x1b\\n has no references");
}

TEST_CASE("captions and references that do not belong together are refused", "[lm][captions][caption-file]") {
  const CaptionFiles files;
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": "x"}, {"image_id": 8, "caption": "x"}])"), data,
              "captions.json', entry 2", "image 8 has no references in", "references.json'");
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": "x"}])"), data,
              "captions.json' has no caption for 2 of the 3 images", "references.json'", "the first is image 7");
  CHECK_ERROR(files.read("[]"), data, "captions.json' has no caption");
  CHECK_ERROR(files.read(R"([{"image_id": 3, "caption": "x"}, {"image_id": "3", "caption": "y"}])"), data,
              "captions.json', entry 2", "image 3 has a caption already");
  CHECK_ERROR(files.read(good_captions, R"({"images": [{"id": 1}, {"id": "1"}], "annotations": []})"), data,
              "references.json', entry 2 of \"images\"", "image 1 is there twice");
  CHECK_ERROR(files.read(good_captions, R"({"images": [{"id": 1}], "annotations": [{"image_id": 2, "caption": "x"}]})"),
              data, "entry 1 of \"annotations\"", "image 2 is not in \"images\"");
  CHECK_ERROR(files.read(good_captions, R"({"images": [{"id": 1}], "annotations": []})"), data,
              "references.json': image 1 has no annotation");
}

}  // namespace
}  // namespace stein::lm
