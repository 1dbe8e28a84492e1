#include <stein/lm/captions/image_features.h>

#include <catch2/catch.hpp>
#include <limits>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "lm/captions/feature_file.h"

namespace stein::lm {
namespace {

TEST_CASE("features are read from .npy and .safetensors files", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  for (const char* name : {"f.npy", "f.safetensors"}) {
    write_features(folder / name, 2, {1, 2, 3, 4, 5, 6});
    const inference::Matrix<float> features = read_image_features(folder / name);
    REQUIRE(features.rows() == 2);
    REQUIRE(features.columns() == 3);
    CHECK(features.row(0)[2] == 3);
    CHECK(features.row(1)[0] == 4);
  }
}

TEST_CASE("of several arrays that called features is read, whatever its numbers are", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  Snapshot file;
  file.put("features", std::span<const double>(std::vector<double>{1.5, 2.5}), {2, 1});
  file.put("other", std::vector<float>{1});
  write_safetensors(folder / "f.safetensors", file);
  CHECK(read_image_features(folder / "f.safetensors").row(1)[0] == 2.5F);
  Snapshot two;
  two.put("one", std::vector<float>{1});
  two.put("two", std::vector<float>{1});
  write_safetensors(folder / "two.safetensors", two);
  CHECK_ERROR(read_image_features(folder / "two.safetensors"), data, "two.safetensors'", "called 'features'",
              "'one', 'two'");
  write_safetensors(folder / "none.safetensors", {});
  CHECK_ERROR(read_image_features(folder / "none.safetensors"), data, "found none");
}

TEST_CASE("features that are no matrix of finite numbers are refused by file, row and column", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "vector.npy", npy_bytes("3,", {1, 2, 3}));
  CHECK_ERROR(read_image_features(folder / "vector.npy"), data, "vector.npy'", "images by features", "[3]");
  write_file_atomically(folder / "empty.npy", npy_bytes("0, 3", {}));
  CHECK_ERROR(read_image_features(folder / "empty.npy"), data, "empty.npy'", "[0, 3]");
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    write_features(folder / "odd.npy", 2, {1, 2, 3, number});
    CHECK_ERROR(read_image_features(folder / "odd.npy"), data, "odd.npy'", "must be finite", "row 1", "column 1");
  }
  CHECK_ERROR(read_image_features(folder / "f.h5"), data, "f.h5'", ".npy or .safetensors");
  CHECK_ERROR(read_image_features(folder / "f.npy"), data, "f.npy");
  write_file_atomically(folder / "text.npy", "no array");
  CHECK_ERROR(read_image_features(folder / "text.npy"), data, "text.npy");
}

TEST_CASE("ids of rows are lines, or a list in JSON", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  using Ids = std::vector<std::string>;
  write_file_atomically(folder / "ids.txt", "b.jpg\r\na.jpg\né.jpg");
  CHECK(read_image_ids(folder / "ids.txt") == Ids{"b.jpg", "a.jpg", "é.jpg"});
  write_file_atomically(folder / "ids.json", R"(["b.jpg", "\u00e9.jpg"])");
  CHECK(read_image_ids(folder / "ids.json") == Ids{"b.jpg", "é.jpg"});
}

TEST_CASE("ids that cannot be those of rows are refused by file and reason", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  const auto refused = [&](const char* name, std::string_view content, const std::vector<std::string>& parts) {
    write_file_atomically(folder / name, content);
    test::check_error([&] { static_cast<void>(read_image_ids(folder / name)); }, ErrorKind::data, parts);
  };
  refused("a.txt", "", {"a.txt' has no id"});
  refused("a.txt", "x\n\ny\n", {"id 2 is empty"});
  refused("a.txt", "x\ny\nx\n", {"the id 'x' twice"});
  refused("a.txt", "x\n\xff\n", {"a.txt', line 2", "UTF-8"});
  refused("a.json", "[", {"a.json' is no JSON"});
  refused("a.json", "{}", {"expected a list of ids"});
  refused("a.json", R"(["x", 3])", {"item 2 is none"});
  refused("a.json", "[\"\xff\"]", {"a.json' is no JSON", "UTF-8"});
  refused("a.csv", "x", {"a.csv'", ".txt or .json"});
}

TEST_CASE("ids lie beside the features if nothing else is said", "[lm][captions]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(ids_beside(folder / "f.npy"), data, "f.npy'", "f.txt'", "f.json'", "neither");
  write_file_atomically(folder / "f.json", "[]");
  CHECK(ids_beside(folder / "f.npy") == folder / "f.json");
  write_file_atomically(folder / "f.txt", "");
  CHECK_ERROR(ids_beside(folder / "f.npy"), data, "both");
  std::filesystem::remove(folder / "f.json");
  CHECK(ids_beside(folder / "f.npy") == folder / "f.txt");
}

}  // namespace
}  // namespace stein::lm
