// What an option `data` means.
#include <stein/training/data_name.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein::training {
namespace {

TEST_CASE("data are a file where the name is not registered, and has a slash or is one", "[training][data-name]") {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "text") << "text";
  Registry<int> registered("text");
  registered.add("known", 1), registered.add("with/slash", 2);
  CHECK_FALSE(means_file("known", registered));
  CHECK_FALSE(means_file("with/slash", registered));
  CHECK_FALSE(means_file("unknown", registered));
  CHECK(means_file("./unknown", registered));
  CHECK(means_file((folder / "text").string(), registered));
}

TEST_CASE("a file is a table by its ending", "[training][data-name]") {
  for (const char* const name : {"a.csv", "./b.tsv", "c.csv.gz", "/d/e.tsv.gz", "f.npy", "g.safetensors"})
    CHECK(means_table(name));
  for (const char* const name : {"a.txt", "csv", "b.csv.txt", "c.gz"}) CHECK_FALSE(means_table(name));
}

TEST_CASE("a file has images by its name", "[training][data-name]") {
  CHECK(means_images("/data/t10k-images-idx3-ubyte.gz"));
  CHECK_FALSE(means_images("/images-idx3/labels-idx1-ubyte"));
}

TEST_CASE("a file of another name has images if it begins as the IDX format has them", "[training][data-name]") {
  const test::TemporaryDirectory folder;
  const auto begins = [&](std::string begin) {
    test::write(folder / "file", begin + "rest");
    return means_images((folder / "file").string());
  };
  CHECK(begins({0, 0, 8, 3}));
  CHECK(begins({0, 0, 8, 1}));
  CHECK_FALSE(begins({0, 0, 8, 2}));
  CHECK_FALSE(begins({0, 0, 9, 3}));
  CHECK_FALSE(begins({1, 0, 8, 3}));
  CHECK_FALSE(begins("good\tsentence\n"));
  test::write(folder / "file", "a");
  CHECK_FALSE(means_images((folder / "file").string()));
}

}  // namespace
}  // namespace stein::training
