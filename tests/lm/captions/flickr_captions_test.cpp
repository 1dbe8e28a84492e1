#include <stein/core/atomic_file.h>
#include <stein/lm/captions/flickr_captions.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein::lm {
namespace {

/// Files of three images and one that is in no part.
class Files {
 public:
  Files() {
    write("captions.txt",
          "a.jpg#0\tA dog .\nb.jpg#0\t a cat \nodd.jpg.1#0\tno one\na.jpg#1\tOne # dog\tof two .\nc.jpg#10\tUn oiseau "
          "été\n");
    write("train.txt", "a.jpg\n"), write("validation.txt", "c.jpg\n"), write("test.txt", "b.jpg\n");
  }
  void write(const char* name, std::string_view text) { write_file_atomically(folder_ / name, text); }
  CaptionData read() const {
    return read_flickr_captions(
        {folder_ / "captions.txt", folder_ / "train.txt", folder_ / "validation.txt", folder_ / "test.txt"});
  }

 private:
  test::TemporaryDirectory folder_;
};

TEST_CASE("captions in Flickr's form are those of the images of the parts, in order", "[lm][captions]") {
  const CaptionData data = Files().read();
  CHECK(data.name == "captions");
  REQUIRE(data.train.size() == 1);
  CHECK(data.train[0].id == "a.jpg");
  CHECK(data.train[0].captions == std::vector<std::string>{"A dog .", "One # dog of two ."});
  CHECK(data.validation[0].captions == std::vector<std::string>{"Un oiseau été"});
  CHECK(data.test[0].captions == std::vector<std::string>{"a cat"});
  CHECK(data.train[0].row == 0);
  CHECK(data.validation[0].row == 1);
  CHECK(data.test[0].row == 2);
  CHECK(data.checksums.size() == 4);
}

TEST_CASE("files that are not in Flickr's form are refused by line and reason", "[lm][captions]") {
  const auto refused = [](const char* name, std::string_view text, const std::vector<std::string>& parts) {
    Files files;
    files.write(name, text);
    test::check_error([&] { static_cast<void>(files.read()); }, ErrorKind::data, parts);
  };
  const std::string good = "a.jpg#0\tx\nb.jpg#0\tx\n";
  refused("captions.txt", good + "c.jpg#0 x\n", {"captions.txt', line 3", "a tab", "'c.jpg#0 x'"});
  refused("captions.txt", good + "c.jpg\tx\n", {"line 3", "'#'"});
  refused("captions.txt", good + "c.jpg#\tx\n", {"line 3", "the caption's number"});
  refused("captions.txt", good + "c.jpg#one\tx\n", {"line 3", "the caption's number"});
  refused("captions.txt", good + "\n", {"line 3", "found ''"});
  refused("captions.txt", good + "#0\tx\n", {"line 3", "the caption has no image"});
  refused("captions.txt", good + "c.jpg#0\t \n", {"line 3", "caption of 'c.jpg' is empty"});
  refused("captions.txt", good + "c.jpg#0\tna\xefve\n", {"line 3", "UTF-8", "na\\xefve"});
  refused("captions.txt", good, {"validation.txt', line 1", "'c.jpg' has no caption", "captions.txt'"});
  refused("train.txt", "a.jpg\na.jpg\n", {"train.txt', line 2", "'a.jpg' is in", "train.txt' already"});
  refused("test.txt", "b.jpg\nc.jpg\n", {"test.txt', line 2", "'c.jpg' is in", "validation.txt' already"});
  refused("test.txt", "\xff\n", {"test.txt', line 1", "UTF-8"});
  refused("test.txt", "", {"no image of the test part"});
}

}  // namespace
}  // namespace stein::lm
