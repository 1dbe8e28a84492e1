#include <stein/lm/text/word_vectors.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein::lm {
namespace {

using stein::test::write;
using stein::test::write_gzip;

/// Sums up what it is told.
struct CountingProgress final : Progress {
  std::uint64_t total = 0, done = 0;
  int begun = 0, finished = 0;

  void begin(std::string_view, std::string_view, std::uint64_t all, std::uint64_t) override { total = all, ++begun; }
  void advance(std::uint64_t units) override { done += units; }
  void finish() override { ++finished; }
};

Vocabulary vocabulary() {
  return {TokenUnit::words, {"cat", "dog", "é", "<unk>"}};
}

WordVectors read(const std::filesystem::path& path) {
  SilentProgress progress;
  return read_word_vectors(path, vocabulary(), progress);
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// A file of word2vec's binary format with vectors of two numbers. Those of "é" have the bytes of spaces and of line
/// ends, which mean nothing inside of a vector.
std::string binary(const std::string& line_end = "") {
  float spaces = 0, lines = 0;
  std::memcpy(&spaces, "    ", sizeof(spaces));
  std::memcpy(&lines, "\n\r\n\n", sizeof(lines));
  return "4 2\n" + std::string("bird ") + floats({9, 9}) + line_end + "é " + floats({spaces, lines}) + line_end +
         "cat " + floats({1, -2}) + line_end + "cat " + floats({7, 7}) + line_end;
}

void check_binary(const WordVectors& vectors) {
  float spaces = 0, lines = 0;
  std::memcpy(&spaces, "    ", sizeof(spaces));
  std::memcpy(&lines, "\n\r\n\n", sizeof(lines));
  CHECK(vectors.dimension == 2);
  CHECK(vectors.values == std::vector<float>{1, -2, 0, 0, spaces, lines, 0, 0});
  CHECK(vectors.found == std::vector<bool>{true, false, true, false});
  CHECK(vectors.found_count() == 2);
}

TEST_CASE("word2vec's binary files give the vectors of the words of a vocabulary", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  for (const char* line_end : {"", "\n"}) {  // some writers put a line end behind each vector
    check_binary(read(write(folder / "vectors.bin", binary(line_end))));
    check_binary(read(write_gzip(folder / "vectors.bin.gz", binary(line_end))));
  }
}

TEST_CASE("text files give the vectors with and without a header, plain and compressed", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  const std::string lines = "bird 9 9\né 0.5 -1e-3 \ncat\t1  -2\ncat 7 7\r\n<unk> 3 4\n";
  const auto check = [](const WordVectors& vectors) {
    CHECK(vectors.dimension == 2);
    CHECK(vectors.values == std::vector<float>{1, -2, 0, 0, 0.5, -1e-3f, 3, 4});
    CHECK(vectors.found == std::vector<bool>{true, false, true, true});
  };
  check(read(write(folder / "glove.txt", lines)));
  check(read(write(folder / "word2vec.txt", "5 2\n" + lines)));
  check(read(write_gzip(folder / "glove.txt.gz", lines)));
  check(read(write_gzip(folder / "fasttext.vec.gz", "5 2\n" + lines)));
}

TEST_CASE("a word of several parts is passed over, and a number may be a word", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  const auto path = write(folder / "glove.txt", "dog 1 2\ncat name@domain.com 5 6\n. . . 7 8\n2010 3 4\ncat 1 1\n");
  CHECK(read(path).values == std::vector<float>{1, 1, 1, 2, 0, 0, 0, 0});
}

TEST_CASE("progress ends where the file ends", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  for (const auto& path :
       {write(folder / "vectors.bin", binary()), write(folder / "vectors.txt", "cat 1 2\ndog 2 3\n")}) {
    CountingProgress progress;
    read_word_vectors(path, vocabulary(), progress);
    CHECK(progress.total == std::filesystem::file_size(path));
    CHECK(progress.done == progress.total);
    CHECK(progress.begun == 1);
    CHECK(progress.finished == 1);
  }
}

TEST_CASE("a header that claims what the file cannot hold is refused", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  const auto refuse = [&](const std::string& header, const std::string& said) {
    CAPTURE(header);
    for (const char* name : {"v.bin", "v.txt"}) {
      CHECK_ERROR(read(write(folder / name, header + "\ncat 1 2\n")), data, name, "line 1", said);
      CHECK_ERROR(read(write_gzip(folder / (std::string(name) + ".gz"), header + "\ncat 1 2\n")), data, name, "line 1",
                  said);
    }
  };
  refuse("1152921504606846976 300", "1152921504606846976 words of 300 numbers do not fit into a file of");
  refuse("9223372036854775807 65536", "do not fit");
  refuse("99999999999999999999 2", "found '99999999999999999999 2'");
  refuse("-4 2", "found '-4 2'");
  refuse("0 2", "found '0 2'");
  refuse("4 0", "found '4 0'");
  refuse("4 -2", "from 1 to 65536");
  refuse("4 65537", "from 1 to 65536");
  for (const char* header : {"", "4", "four two", "4 2 1", "4 2x", "4.0 2", "cat 1 2"})
    CHECK_ERROR(read(write(folder / "v.bin", std::string(header) + "\ncat 1 2\n")), data, "line 1",
                "expected the number of words");
  CHECK_ERROR(read(write(folder / "v.bin", std::string(200, '1'))), data, "line 1", "expected the number of words");
  CHECK_ERROR(read(write(folder / "v.bin", "")), data, "line 1", "expected the number of words");
  // A file that just holds what it claims.
  CHECK(read(write(folder / "v.bin", "3 2\na " + floats({1, 2}) + "b " + floats({1, 2}) + "c " + floats({1, 2})))
            .dimension == 2);
}

TEST_CASE("a compressed file may hold many times its size", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  std::string records = "1000 2\n", lines = records;
  for (int i = 0; i < 1'000; ++i) records += "cat " + floats({1, 2}), lines += "cat 1 2\n";
  const auto binary_file = write_gzip(folder / "v.bin.gz", records), text_file = write_gzip(folder / "v.txt.gz", lines);
  REQUIRE(std::filesystem::file_size(binary_file) < 1'000);
  CHECK(read(binary_file).found_count() == 1);
  CHECK(read(text_file).found_count() == 1);
}

TEST_CASE("binary files that are cut, damaged or too long are refused by their record", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  const std::string whole = binary();
  // Cut anywhere behind the header, the claim does not fit or a record ends early.
  for (std::size_t size = 4; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(read(write(folder / "cut.bin", whole.substr(0, size))), Error);
  }
  CHECK_ERROR(read(write(folder / "v.bin", whole.substr(0, whole.size() - 1))), data, "v.bin', record 4 of 4",
              "ends inside");
  CHECK_ERROR(read(write(folder / "v.bin", whole.substr(0, whole.size() - 12))), data, "record 4 of 4",
              "found the end of the file");
  CHECK_ERROR(read(write(folder / "v.bin", whole + "x")), data, "v.bin' goes on behind the 4 words");
  CHECK_ERROR(read(write(folder / "v.bin",
                         "2 1\ncat " + floats({1}) + "dog " + floats({std::numeric_limits<float>::infinity()}))),
              data, "record 2 of 2", "number 1 of 'dog' is inf");
  CHECK_ERROR(read(write(folder / "v.bin", "1 2\nbird " + floats({1, std::numeric_limits<float>::quiet_NaN()}))), data,
              "record 1 of 1", "number 2 of 'bird' is nan");
  CHECK_ERROR(read(write(folder / "v.bin", "1 2\n " + floats({1, 2}))), data, "record 1 of 1", "found a space");
  CHECK_ERROR(read(write(folder / "v.bin", "1 2\n" + std::string(1'001, 'a') + " " + floats({1, 2}))), data,
              "record 1 of 1", "at most 1000 bytes", "'aaaaaaaaaaaaaaaaaaaa…'");
  CHECK_NOTHROW(read(write(folder / "v.bin", "1 2\n" + std::string(1'000, 'a') + " " + floats({1, 2}))));
  const auto packed = write_gzip(folder / "v.bin.gz", whole);
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 9);
  CHECK_ERROR(read(packed), data, "v.bin.gz' is truncated");
}

TEST_CASE("text files that are cut or damaged are refused by their line", "[lm][word-vectors]") {
  const stein::test::TemporaryDirectory folder;
  const auto refuse = [&](const std::string& text, const std::vector<std::string>& said) {
    CAPTURE(text.substr(0, 60));
    stein::test::check_error([&] { read(write(folder / "v.txt", text)); }, ErrorKind::data, said);
  };
  refuse("", {"v.txt' is empty"});
  refuse("cat\n", {"v.txt', line 1", "expected a word and 1 to 65536 numbers", "found 'cat'"});
  refuse("\n", {"line 1", "expected a word and 1 to 65536 numbers"});
  refuse("cat 1 2\ndog 1\n", {"line 2", "a word and 2 numbers, found 1 numbers"});
  refuse("cat 1 2\ndog 1 2 3\n", {"line 2", "a word and 2 numbers, found 3 numbers"});
  refuse("cat 1 2\n\ndog 1 2\n", {"line 2", "found 0 numbers"});
  refuse("cat 1 2\ndog 1 x\n", {"line 2", "'x' is no number"});
  refuse("cat 1 2\nbird 1 2,5\n", {"line 2", "'2,5' is no number"});
  refuse("cat 1 nan\n", {"line 1", "nan is not finite"});
  refuse("cat 1 inf\n", {"line 1", "inf is not finite"});
  refuse("cat 1 1e39\n", {"line 1", "1e39 is not finite as a float"});
  refuse("2 2\ncat 1 2\n", {"v.txt' ends after 1 of the 2 words"});
  refuse("1 2\ncat 1 2\ndog 1 2\n", {"line 3", "one word more than the 1"});
  refuse("2 2\ncat 1 2\ndog 1 2 3\n", {"line 3", "a word and 2 numbers, found 3"});
  refuse(std::string(1'001, 'a') + " 1 2\n", {"line 1", "at most 1000 bytes, found one of 1001"});
  CHECK_ERROR(read(folder / "none.txt"), data, "none.txt' does not exist");
  SilentProgress progress;
  CHECK_ERROR(read_word_vectors(folder / "v.txt", Vocabulary(TokenUnit::bytes, {"a"}), progress), usage,
              "vocabulary of words", "got one of bytes");
}

}  // namespace
}  // namespace stein::lm
