// Tables of comma-separated values: what columns are, what is missing, and what is refused.
#include <stein/core/data/csv_table.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein {
namespace {

struct File {
  explicit File(const std::string& text) { test::write(path, text); }
  Table read(const std::vector<std::string>& categorical = {}, const std::vector<std::string>& ignore = {}) const {
    return read_csv_table(path, {.categorical = categorical, .ignore = ignore});
  }

  test::TemporaryDirectory folder;
  std::filesystem::path path = folder / "table.csv";
};

TEST_CASE("a column has numbers where every cell is one, else categories in the order of the alphabet",
          "[core][csv-table]") {
  const Table table = File("size,colour,price\n1.5,red,3\n-2e3,blue,4\n+7,red,5\n").read();
  REQUIRE(table.rows() == 3);
  REQUIRE(table.columns.size() == 3);
  CHECK(table.columns[0].numbers == std::vector<double>{1.5, -2000, 7});
  CHECK_FALSE(table.columns[1].numeric());
  CHECK(table.columns[1].categories == std::vector<std::string>{"blue", "red"});
  CHECK(table.columns[1].levels == std::vector<std::int32_t>{1, 0, 1});
  CHECK(table.checksums.contains("table.csv"));
}

TEST_CASE("a cell without a value is missing in columns of both kinds", "[core][csv-table]") {
  const Table table = File("a,b\n1,x\n?,NA\n,\nNaN,null\nn/a,None\n").read();
  CHECK(table.columns[0].numeric());
  CHECK(table.columns[0].missing_cells() == 4);
  CHECK(table.columns[1].categories == std::vector<std::string>{"x"});
  CHECK(table.columns[1].missing_cells() == 4);
  CHECK_FALSE(table.columns[1].missing(0));
}

TEST_CASE("numbers that are infinite, and numbers with something behind them, are texts", "[core][csv-table]") {
  for (const char* const cell : {"inf", "1e999", "1.5kg", "0x10", "1,5", "--1", "+-1"}) {
    INFO(cell);
    CHECK((number_in(cell).has_value() == false));
  }
  CHECK(std::isnan(*number_in("?")));
  CHECK(*number_in("1e-3") == 1e-3);
}

TEST_CASE("columns of numbers that are named are categories, in the order of their values", "[core][csv-table]") {
  const Table table = File("zip,y\n10,1\n9,2\n100,3\n").read({"zip"});
  CHECK(table.columns[0].categories == std::vector<std::string>{"9", "10", "100"});
  CHECK(table.columns[0].levels == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE("a column of texts may hold a few numbers, and one that is named any", "[core][csv-table]") {
  CHECK_FALSE(File("house,y\n12,1\n12a,2\n14b,3\n").read().columns[0].numeric());
  CHECK(File("house,y\n12,1\n14,2\n14b,3\n").read({"house"}).columns[0].categories.size() == 3);
}

TEST_CASE("columns that are ignored may hold anything", "[core][csv-table]") {
  std::string text = "id,y\n";
  for (int i = 0; i < 1001; ++i) text += "name" + std::to_string(i) + ",1\n";
  const File file(text);
  CHECK_ERROR(file.read(), data, "more than 1000 different texts, such as 'name0'", "`ignore`");
  const Table table = file.read({}, {"id"});
  REQUIRE(table.columns.size() == 1);
  CHECK(table.rows() == 1001);
}

TEST_CASE("semicolons and tabs separate fields where the header has most of them", "[core][csv-table]") {
  for (const char* const text : {"a;b,c;d\n1;2;3\n", "a\tb\tc\n1\t2\t3\n"}) {
    const Table table = File(text).read();
    REQUIRE(table.columns.size() == 3);
    CHECK(table.columns[2].numbers == std::vector<double>{3});
  }
}

TEST_CASE("quoted fields, a byte order mark, Windows line ends and empty lines are read", "[core][csv-table]") {
  const Table table = File("\xef\xbb\xbf\"a, b\",c\r\n\r\n\"x \"\"y\"\"\",2\r\n").read();
  CHECK(table.columns[0].name == "a, b");
  CHECK(table.columns[0].categories == std::vector<std::string>{"x \"y\""});
  CHECK(table.rows() == 1);
}

TEST_CASE("a file without a header takes its names from the form, and comments are passed over", "[core][csv-table]") {
  const File file("1,a\n|a remark\n2,b\n");
  const Table table = read_csv_table(file.path, {.header = {"x", "k"}, .comment = '|'});
  CHECK(table.columns[0].name == "x");
  CHECK(table.columns[0].numbers == std::vector<double>{1, 2});
  CHECK(table.columns[1].categories == std::vector<std::string>{"a", "b"});
}

TEST_CASE("rows are appended by the names of columns", "[core][csv-table]") {
  Table table = File("x,k\n1,b\n").read();
  table.append(File("k,more,x\na,7,2\nb,7,?\n").read());
  CHECK(table.columns[0].numbers[1] == 2);
  CHECK(table.columns[0].missing(2));
  CHECK(table.columns[1].categories == std::vector<std::string>{"b", "a"});
  CHECK(table.columns[1].levels == std::vector<std::int32_t>{0, 1, 0});
  CHECK_ERROR(table.append(File("x\n1\n").read()), data, "no column 'k'");
  CHECK_ERROR(table.append(File("x,k\nbig,a\n").read()), data, "'x' has the text 'big', where others have numbers");
}

TEST_CASE("a table that is none says where and why", "[core][csv-table]") {
  const auto refused = [](const std::string& text, const std::vector<std::string>& parts) {
    INFO(text);
    test::check_error([&] { File(text).read(); }, ErrorKind::data, parts);
  };
  refused("", {"is empty"});
  refused("a,b\n", {"has no row"});
  refused("a,b\n1,2\n1\n", {"table.csv', line 3", "expected 2, found 1"});
  refused("a,b\n1,2,3\n", {"line 2", "expected 2, found 3"});
  refused("a,\n1,2\n", {"column 2 has no name"});
  refused("a,a\n1,2\n", {"two columns are called 'a'"});
  refused("a,b\n\xff,2\n", {"line 2", "expected UTF-8"});
  refused("a,b\n1,2\n,3\noops,4\n5,5\nn/a,6\nmore,7\n8,8\n",
          {"line 4: column 'a' has 'oops', which is no finite number, where 3 of 5 cells are", "`categorical`"});
  refused("a,b\n\"1,2\n", {"line 2", "quoted"});
  CHECK_ERROR(File("size,b\n1,2\n").read({"sise"}), usage, "no column 'sise', which `categorical` names",
              "Did you mean 'size'");
}

}  // namespace
}  // namespace stein
