#include <stein/core/line_reader.h>
#include <stein/core/rng.h>
#include <sys/stat.h>
#include <zlib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/ordinary_user.h"
#include "error_matcher.h"
#include "temporary_directory.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

#ifndef __SANITIZE_ADDRESS__  // which has operators of its own that would meet these
// The whole program counts its allocations, so that a test can say that reading a line makes none. Inlined, one of the
// pair would look to the compiler like a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* place = std::malloc(bytes == 0 ? 1 : bytes)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}
#endif

namespace stein {
namespace {

using Lines = std::vector<std::string>;

/// One gzip member that holds `text`.
std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(text.size() + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  return result;
}

/// A folder of files for one test.
class Files {
 public:
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  /// The same text as a plain and as a gzip file.
  std::vector<std::filesystem::path> write_both(const std::string& text) const {
    return {write("text.txt", text), write("text.txt.gz", gzip(text))};
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  test::TemporaryDirectory folder_;
};

Lines rest_of(LineReader& reader) {
  Lines lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

Lines lines_of(const std::filesystem::path& path) {
  LineReader reader(path);
  Lines lines = rest_of(reader);
  CHECK(reader.line_number() == lines.size());
  CHECK(reader.file_bytes_read() == reader.file_bytes());
  return lines;
}

/// Lines up to the end, or up to the error, of which `error` then has the sentence.
Lines lines_before_error(const std::filesystem::path& path, std::optional<Error>& error) {
  Lines lines;
  try {
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) lines.emplace_back(line);
  } catch (const Error& caught) {
    error = caught;
  }
  return lines;
}

bool starts_with(const Lines& all, const Lines& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

/// Lines of many lengths: empty ones, and ones around and beyond the reader's first buffer of 64 KiB.
std::string various_text() {
  std::string text;
  for (const int length : {0, 1, 65'534, 65'535, 65'536, 0, 65'537, 200'000, 3, 131'072, 0, 0}) {
    text += std::string(static_cast<std::size_t>(length), static_cast<char>('a' + length % 26)) + "\n";
  }
  return text;
}

TEST_CASE("a line ends with \\n or \\r\\n or the file, and holds any other byte", "[core][line_reader]") {
  const auto [text, expected] = GENERATE(table<std::string, Lines>({
      {"", {}},
      {"\n", {""}},
      {"\n\n", {"", ""}},
      {"one", {"one"}},
      {"one\n", {"one"}},
      {"one\ntwo", {"one", "two"}},
      {"one\r\ntwo\r\n", {"one", "two"}},
      {"\r\n\r\n", {"", ""}},
      {"one\r\r\ntwo", {"one\r", "two"}},
      {"one\rtwo\n", {"one\rtwo"}},
      {"one\r", {"one\r"}},
      {std::string("a\0b\n\0\nc\0", 8), {std::string("a\0b", 3), std::string("\0", 1), std::string("c\0", 2)}},
      {"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", {"one", "\xef\xbb\xbftwo"}},
      {"\xef\xbb\xbf\none", {"", "one"}},
      {"\xef\xbb\xbf", {}},
      {"\xef\xbb\xbf\xef\xbb\xbf", {"\xef\xbb\xbf"}},
      {"\xef\xbb", {"\xef\xbb"}},
      {"\xef\xbb\n", {"\xef\xbb"}},
      {"größer\n", {"größer"}},
  }));
  CAPTURE(text);
  const Files files;
  for (const auto& path : files.write_both(text)) CHECK(lines_of(path) == expected);
}

TEST_CASE("lines longer than the buffer are read whole, plain and through gzip", "[core][line_reader]") {
  const Files files;
  const std::string text = various_text();
  for (const auto& path : files.write_both(text)) {
    std::string joined;
    for (const std::string& line : lines_of(path)) joined += line + "\n";
    CHECK(joined == text);
  }
}

TEST_CASE("compression is seen by content, and a name .gz promises it", "[core][line_reader]") {
  const Files files;
  CHECK(lines_of(files.write("packed.log", gzip("one\ntwo\n"))) == Lines{"one", "two"});
  CHECK_ERROR(LineReader(files.write("plain.gz", "one\n")), data, "plain.gz", "not a gzip file");
  CHECK_ERROR(LineReader(files.write("empty.gz", "")), data, "empty.gz", "not a gzip file");
}

TEST_CASE("several gzip members are one text, also where a line or a byte order mark crosses them",
          "[core][line_reader]") {
  const Files files;
  CHECK(lines_of(files.write("a.gz", gzip("one\ntw") + gzip("") + gzip("o\r") + gzip("\nthree"))) ==
        Lines{"one", "two", "three"});
  CHECK(lines_of(files.write("b.gz", gzip("\xef") + gzip("\xbb") + gzip("\xbfone\n"))) == Lines{"one"});
  std::string packed, text;
  for (int i = 0; i < 20'000; ++i) {
    packed += gzip(std::to_string(i % 10));
    text += std::to_string(i % 10);
  }
  CHECK(lines_of(files.write("c.gz", packed)) == Lines{text});
}

TEST_CASE("a file without a size, as in /proc, and a pipe are read to their end", "[core][line_reader]") {
  const Lines status = [] {
    LineReader reader("/proc/self/status");
    CHECK(reader.file_bytes() == 0);
    return rest_of(reader);
  }();
  CHECK(std::ranges::any_of(status, [](const std::string& line) { return line.starts_with("Pid:"); }));

  const Files files;
  const std::filesystem::path pipe = files.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const bool packed : {false, true}) {
    std::thread writer([&] { std::ofstream(pipe) << (packed ? gzip(various_text()) : various_text()); });
    LineReader reader(pipe);
    CHECK(rest_of(reader).size() == 12);
    writer.join();
    if (packed) continue;
    CHECK_ERROR(reader.skip_to({.bytes = 1, .lines = 1}), io, "pipe", "seek");
  }
}

TEST_CASE("a million lines are read in constant memory and without an allocation a line", "[core][line_reader]") {
  const int count = 1'000'000;
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + ", long enough to lie on the heap\r\n";
  const Files files;
  for (const auto& path : files.write_both(text)) {
    LineReader reader(path);
    std::string_view line;
    REQUIRE(reader.next(line));
    const std::size_t buffer_before = reader.buffer_bytes();
    const std::uint64_t allocations_before = allocations;
    int wrong = 0;
    for (int i = 1; i < count; ++i) wrong += reader.next(line) && line.starts_with("line ") ? 0 : 1;
    const std::uint64_t allocations_after = allocations;
    CHECK(wrong == 0);
    CHECK(line == "line 999999, long enough to lie on the heap");
    CHECK(allocations_after == allocations_before);
    CHECK(reader.buffer_bytes() == buffer_before);
    CHECK(buffer_before == 1 << 16);
    CHECK_FALSE(reader.next(line));
    CHECK(reader.line_number() == count);
    CHECK(reader.position() == LinePosition{.bytes = text.size(), .lines = count});
  }
}

TEST_CASE("a line of the longest allowed length is read, one byte more is refused by file and line number",
          "[core][line_reader]") {
  const std::size_t longest = GENERATE(1, 2, 10, 65'533, 65'534, 65'535, 65'536, 65'537, 100'000, 131'070);
  const std::string line_end = GENERATE("\n", "\r\n", "");
  const Files files;
  const std::string fits(longest, 'x');
  for (const auto& path : files.write_both(fmt::format("first\n{}{}", fits, line_end))) {
    LineReader reader(path, std::max<std::size_t>(longest, 5));
    CHECK(rest_of(reader) == Lines{"first", fits});
    CHECK(reader.buffer_bytes() <= std::max<std::size_t>(longest + 2, 1 << 16));
  }
  for (const auto& path : files.write_both(fmt::format("1\n{}x{}", fits, line_end))) {
    LineReader reader(path, longest);
    std::string_view line;
    REQUIRE(reader.next(line));
    const std::string where = "'" + path.string() + "', line 2: longer than the " + std::to_string(longest) + " bytes";
    CHECK_ERROR(reader.next(line), data, where);
    CHECK_ERROR(reader.next(line), data, where);  // and is not passed over
    CHECK(reader.buffer_bytes() <= std::max<std::size_t>(longest + 2, 1 << 16));
  }
}

TEST_CASE("a line without end is refused when the limit is reached, not when the memory is", "[core][line_reader]") {
  const Files files;
  for (const auto& path : files.write_both(std::string(50 << 20, 'a'))) {
    LineReader reader(path);
    std::string_view line;
    CHECK_ERROR(reader.next(line), data, "line 1: longer than the 16777216 bytes allowed for a line");
    CHECK(reader.buffer_bytes() <= (16 << 20) + 2);
  }
  const auto path = files.write("a.txt", "a\n");
  CHECK_ERROR(LineReader(path, 0), usage, "a.txt", "got 0");
  CHECK_ERROR(LineReader(path, std::numeric_limits<std::size_t>::max()), usage, "a.txt", "18446744073709551615");
}

TEST_CASE("what cannot be opened is refused in words", "[core][line_reader]") {
  const Files files;
  CHECK_ERROR(LineReader(files.path() / "none"), data, "none", "does not exist");
  CHECK_ERROR(LineReader(files.path() / "none.gz"), data, "none.gz", "does not exist");
  CHECK_ERROR(LineReader(files.write("file", "") / "below"), data, "does not exist");
  CHECK_ERROR(LineReader(files.path()), data, files.path().string(), "is a folder");
}

TEST_CASE("a file without permission to read is refused in words", "[core][line_reader][unprivileged]") {
  const Files files;
  std::filesystem::permissions(files.path(), std::filesystem::perms{0755});
  const auto locked = files.write("locked", "one\n");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  const test::OrdinaryUser user;
  CHECK_ERROR(LineReader(locked), io, "locked", "Permission denied");
}

TEST_CASE("errors of a caller begin with the file and the number of the line given last", "[core][line_reader]") {
  const Files files;
  for (const auto& path : files.write_both("one\n\nthree")) {
    LineReader reader(path);
    const std::string file = "'" + path.string() + "', line ";
    std::string_view line;
    CHECK(reader.line_number() == 0);
    CHECK_ERROR(reader.fail_here("expected a header"), data, file + "1: expected a header");
    for (const int number : {1, 2, 3}) {
      REQUIRE(reader.next(line));
      CHECK(reader.line_number() == static_cast<std::uint64_t>(number));
      CHECK_ERROR(reader.fail_here("expected {} fields, found {}", 3, "none"), data,
                  file + std::to_string(number) + ": expected 3 fields, found none");
    }
    CHECK_FALSE(reader.next(line));
    CHECK_FALSE(reader.next(line));
    CHECK_ERROR(reader.fail_here("too few"), data, file + "3: too few");
    CHECK(reader.path() == path);
  }
}

TEST_CASE("a gzip file cut anywhere is refused, except behind a member", "[core][line_reader]") {
  const Files files;
  const std::string first = gzip("one\ntwo\nthr"), second = gzip("ee\nfour\n");
  const std::string packed = first + second;
  const Lines all = {"one", "two", "three", "four"};
  for (std::size_t length = 0; length < packed.size(); ++length) {
    CAPTURE(length);
    std::optional<Error> error;
    const auto path = files.write("cut.gz", packed.substr(0, length));
    const Lines lines = lines_before_error(path, error);
    if (length == first.size()) {
      CHECK_FALSE(error);
      CHECK(lines == Lines{"one", "two", "thr"});
      continue;
    }
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::data);
    CHECK_THAT(error->what(), Catch::Contains(length < 2 ? "not a gzip file" : "cut.gz' is truncated"));
    CHECK(starts_with(all, lines));
  }
}

TEST_CASE("a long gzip file cut anywhere is refused", "[core][line_reader]") {
  const Files files;
  std::string text;
  for (std::int64_t i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 200'003) + "\n";
  const std::string packed = gzip(text);
  for (std::size_t cut = 1; cut < packed.size(); cut = cut * 5 / 3 + 1) {
    std::optional<Error> error;
    const Lines lines = lines_before_error(files.write("cut.gz", packed.substr(0, packed.size() - cut)), error);
    CAPTURE(cut, lines.size());
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::data);
    std::size_t place = 0;
    bool same = true;
    for (const std::string& line : lines) {
      same = same && text.compare(place, line.size() + 1, line + "\n") == 0;
      place += line.size() + 1;
    }
    CHECK(same);
  }
}

TEST_CASE("a gzip file with any bit flipped is refused or gives the same lines", "[core][line_reader]") {
  const Files files;
  const std::string packed = gzip("one\ntwo\nthr") + gzip("ee\nfour\n");
  const Lines all = {"one", "two", "three", "four"};
  int refused = 0;
  for (std::size_t place = 0; place < packed.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = packed;
      altered[place] = static_cast<char>(altered[place] ^ (1 << bit));
      std::optional<Error> error;
      const Lines lines = lines_before_error(files.write("altered.gz", altered), error);
      CAPTURE(place, bit);
      if (!error) CHECK(lines == all);
      if (error) CHECK(error->kind() == ErrorKind::data);
      refused += error ? 1 : 0;
    }
  }
  CHECK(refused > static_cast<int>(packed.size()) * 4);  // the time, the system and the like may change
}

TEST_CASE("damage in a gzip file is named: checksum, length, and bytes behind a member", "[core][line_reader]") {
  const Files files;
  const std::string packed = gzip("one\ntwo\n");
  const auto refused = [&](const std::string& content, const std::string& reason) {
    std::optional<Error> error;
    const Lines lines = lines_before_error(files.write("a.gz", content), error);
    REQUIRE(error);
    CHECK_THAT(error->what(), Catch::Contains("a.gz' is damaged") && Catch::Contains(reason));
  };
  std::string checksum = packed, length = packed;
  checksum[packed.size() - 8] ^= 1;
  length[packed.size() - 4] ^= 1;
  refused(checksum, "incorrect data check");
  refused(length, "incorrect length check");
  refused(packed + "more text\n", "after 8 bytes of text (incorrect header check)");
  refused(packed + std::string(512, '\0'), "incorrect header check");
  refused(std::string("\x1f\x8b\x07", 3) + packed.substr(3), "unknown compression method");
}

TEST_CASE("random bytes behind gzip's first two never do worse than an error", "[core][line_reader]") {
  const Files files;
  Draws draws({.seed = 5, .step = 0, .stream = Stream::test}, 0);
  for (int trial = 0; trial < 500; ++trial) {
    std::string noise = gzip("one\ntwo\nthree\n" + std::string(200, 'a')) + gzip("four");
    for (int i = 0; i < 3; ++i) {
      noise[2 + draws.integer(static_cast<std::uint32_t>(noise.size() - 2))] = static_cast<char>(draws.integer(256));
    }
    std::optional<Error> error;
    static_cast<void>(lines_before_error(files.write("noise.gz", noise), error));
    if (error) REQUIRE(error->kind() == ErrorKind::data);
  }
}

TEST_CASE("a reader brought back to any position gives the same rest with the same line numbers",
          "[core][line_reader]") {
  const std::string text = GENERATE(std::string("\xef\xbb\xbfone\r\n\ntwo\nthree\n\n\nfour"), std::string("a\nb\n"),
                                    std::string("\xef\xbb\xbf"), std::string(), various_text());
  const Files files;
  auto paths = files.write_both(text);
  paths.push_back(
      files.write("members.gz", gzip(text.substr(0, text.size() / 2)) + gzip(text.substr(text.size() / 2))));
  for (const auto& path : paths) {
    const Lines all = lines_of(path);
    std::vector<LinePosition> positions;
    LineReader first(path);
    std::string_view line;
    do {
      positions.push_back(first.position());
    } while (first.next(line));
    positions.push_back(first.position());

    LineReader wanderer(path);  // goes forwards and backwards
    for (std::size_t step = 0; step < positions.size(); ++step) {
      const LinePosition& position = positions[step % 2 == 0 ? step : positions.size() - 1 - step];
      CAPTURE(path.string(), position.bytes, position.lines);
      const Lines rest(all.begin() + static_cast<std::ptrdiff_t>(position.lines), all.end());
      LineReader fresh(path);
      for (LineReader* reader : {&fresh, &wanderer}) {
        reader->skip_to(position);
        CHECK(reader->position() == position);
        CHECK(reader->line_number() == position.lines);
        CHECK(rest_of(*reader) == rest);
        CHECK(reader->line_number() == all.size());
        CHECK(reader->position() == positions.back());
        CHECK(reader->file_bytes_read() == reader->file_bytes());
      }
      wanderer.skip_to(position);
      static_cast<void>(wanderer.next(line));  // the next move begins with text in the buffer
    }
  }
}

TEST_CASE("a position that does not fit the text is refused", "[core][line_reader]") {
  const Files files;
  const std::string text = "one\ntwo\nthree";
  for (const auto& path : files.write_both(text)) {
    LineReader reader(path);
    CHECK_ERROR(reader.skip_to({.bytes = 14, .lines = 3}), data, path.string(), "ends before byte 14");
    CHECK_ERROR(reader.skip_to({.bytes = ~std::uint64_t{0}, .lines = 3}), data,
                "ends before byte 18446744073709551615");
    CHECK_ERROR(reader.skip_to({.bytes = 5, .lines = 1}), data, path.string(), "line 2 to begin at byte 5", "middle");
    CHECK_ERROR(reader.skip_to({.bytes = 1, .lines = 2}), usage, path.string(), "2 lines in 1 bytes");
    reader.skip_to({.bytes = 4, .lines = 1});
    CHECK(rest_of(reader) == Lines{"two", "three"});
    reader.skip_to({.bytes = 13, .lines = 3});
    CHECK(rest_of(reader).empty());
  }
  LineReader empty(files.write("empty", ""));
  CHECK_ERROR(empty.skip_to({.bytes = 1, .lines = 1}), data, "ends before byte 1");
  // A last line without its end has grown since the position was taken.
  LineReader grown(files.write("grown", text + "teen\n"));
  CHECK_ERROR(grown.skip_to({.bytes = 13, .lines = 3}), data, "middle of a line");
  LineReader members(files.write("members.gz", gzip(text) + gzip("teen\n")));
  CHECK_ERROR(members.skip_to({.bytes = 13, .lines = 3}), data, "middle of a line");
  const std::string packed = gzip(text);
  LineReader cut(files.write("cut.gz", packed.substr(0, packed.size() - 9)));
  CHECK_ERROR(cut.skip_to({.bytes = 14, .lines = 3}), data, "truncated");
}

TEST_CASE("bytes read of the file grow to its size, plain and through gzip", "[core][line_reader]") {
  std::string text;
  for (std::int64_t i = 0; i < 300'000; ++i) text += std::to_string(i * 7919 % 300'007) + "\n";
  const Files files;
  for (const auto& path : files.write_both(text)) {
    LineReader reader(path);
    CHECK(reader.file_bytes() == std::filesystem::file_size(path));
    std::string_view line;
    std::uint64_t last = 0, largest_step = 0;
    while (reader.next(line)) {
      largest_step = std::max(largest_step, reader.file_bytes_read() - last);
      last = reader.file_bytes_read();
    }
    CHECK(last == reader.file_bytes());
    CHECK(largest_step <= 1 << 16);
  }
}

TEST_CASE("bytes of a compressed file count when they are decompressed, not when they are fetched",
          "[core][line_reader]") {
  const Files files;
  const auto path = files.write("zeros.gz", gzip(std::string(10 << 20, '0')) + gzip("\n") + gzip("last\n"));
  LineReader reader(path);  // 10 kB on the disk
  std::string_view line;
  REQUIRE(reader.next(line));
  CHECK(reader.file_bytes_read() < reader.file_bytes());
  REQUIRE(reader.next(line));
  CHECK_FALSE(reader.next(line));
  CHECK(reader.file_bytes_read() == reader.file_bytes());
}

TEST_CASE("a reader can be moved", "[core][line_reader]") {
  const Files files;
  for (const auto& path : files.write_both("one\ntwo\nthree\n")) {
    LineReader reader(path);
    std::string_view line;
    REQUIRE(reader.next(line));
    LineReader moved = std::move(reader);
    CHECK(line == "one");
    CHECK(rest_of(moved) == Lines{"two", "three"});
    moved = LineReader(path);
    CHECK(rest_of(moved) == Lines{"one", "two", "three"});
  }
}

}  // namespace
}  // namespace stein
