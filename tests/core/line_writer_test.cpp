#include <stein/core/line_reader.h>
#include <stein/core/line_writer.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

std::vector<std::string> written_lines(const std::filesystem::path& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

TEST_CASE("lines that were written are read back, plain and compressed", "[core][line_writer]") {
  const test::TemporaryDirectory folder;
  std::vector<std::string> lines;
  for (int i = 0; i < 50'000; ++i)
    lines.push_back(std::string(static_cast<std::size_t>(i % 37), 'a') + std::to_string(i));
  for (const char* name : {"plain.txt", "packed.gz"}) {
    LineWriter writer(folder / name);
    for (const std::string& line : lines) writer.write(line);
    CHECK_FALSE(std::filesystem::exists(folder / name));
    writer.commit();
    CHECK(written_lines(folder / name) == lines);
  }
  std::ifstream packed(folder / "packed.gz", std::ios::binary);
  CHECK(packed.get() == 0x1f);
  CHECK(std::filesystem::file_size(folder / "packed.gz") < std::filesystem::file_size(folder / "plain.txt") / 2);
}

TEST_CASE("a file that is not finished leaves nothing behind", "[core][line_writer]") {
  const test::TemporaryDirectory folder;
  { LineWriter(folder / "a.gz").write("half"); }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_ERROR(LineWriter(folder / "none/a.gz"), io, "a.gz");
  LineWriter empty(folder / "empty.gz");
  empty.commit();
  CHECK(written_lines(folder / "empty.gz").empty());
}

}  // namespace
}  // namespace stein
