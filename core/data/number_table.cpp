#include <stein/core/checksum.h>
#include <stein/core/data/number_table.h>
#include <stein/core/error.h>

namespace stein {

Table read_number_table(const std::filesystem::path& path, std::int64_t header_lines) {
  LineReader reader(path);
  Table table;
  std::string_view line;
  for (std::int64_t i = 0; i < header_lines && reader.next(line);) ++i;
  while (reader.next(line)) {
    std::size_t c = 0;
    const bool first = table.columns.empty();
    for_each_word(line, [&](std::string_view word) {
      if (first) table.columns.push_back({.name = fmt::format("x{}", c)});
      if (c == table.columns.size()) reader.fail_here("expected {} numbers as in the first row, found more", c);
      table.columns[c++].numbers.push_back(number_of<double>(reader, word));
    });
    if (c > 0 && c < table.columns.size())
      reader.fail_here("expected {} numbers as in the first row, found {}", table.columns.size(), c);
  }
  if (table.rows() == 0) fail(ErrorKind::data, "'{}' has no row", path.string());
  table.checksums[path.filename().string()] = sha256_file(path);
  return table;
}

}  // namespace stein
