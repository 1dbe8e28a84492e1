#include <stein/core/npy.h>
#include <stein/core/rng.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "error_matcher.h"
#include "python.h"
#include "temporary_directory.h"

namespace stein {
namespace {

using namespace std::string_literals;
using Shape = std::vector<std::int64_t>;

/// A file of version `major`.0 with `header` and `data` as they are.
std::string make_file(const std::string& header, const std::string& data = "", int major = 1) {
  std::string file = "\x93NUMPY" + std::string(1, static_cast<char>(major)) + '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string length_bytes(sizeof(length), '\0');
  std::memcpy(length_bytes.data(), &length, sizeof(length));
  return file + length_bytes.substr(0, major == 1 ? 2 : 4) + header + data;
}

std::string header_of(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }     \n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
void check_array(const NpyArray& array, const Shape& shape, const std::vector<T>& values) {
  CAPTURE(array.origin);
  CHECK(array.type == element_type<T>());
  CHECK(array.shape == shape);
  REQUIRE(array.size() == values.size());
  CHECK(std::string(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()) == bytes_of(values));
  const std::span<const T> elements = array.as<T>();
  CHECK(bytes_of(std::vector<T>(elements.begin(), elements.end())) == bytes_of(values));
}

template <class T>
void check_type_is_read(const std::string& name, const std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::string header = header_of(name, "False", "(" + std::to_string(count) + ",)");
  for (const int version : {1, 2, 3}) {
    check_array(decode_npy(make_file(header, bytes_of(values), version), name), {count}, values);
  }
}

TEST_CASE("every element type of a .npy file is read bit for bit, in every version", "[core][npy]") {
  check_type_is_read<float>("<f4", {1.5f, -0.0f, std::numeric_limits<float>::infinity(), 1e-45f});
  check_type_is_read<double>("<f8", {0.1, -0.0, std::numeric_limits<double>::quiet_NaN(), 5e-324});
  check_type_is_read<std::int32_t>("<i4", {-1, 2, std::numeric_limits<std::int32_t>::min()});
  check_type_is_read<std::int64_t>("<i8", {-1, 2, std::numeric_limits<std::int64_t>::min()});
  check_type_is_read<std::uint64_t>("<u8", {1, std::numeric_limits<std::uint64_t>::max()});
  check_type_is_read<std::uint8_t>("|u1", {0, 7, 255});
  check_type_is_read<std::uint8_t>("<u1", {0, 7, 255});
  check_type_is_read<std::uint8_t>("|b1", {1, 0, 1});
  check_type_is_read<std::uint8_t>("<b1", {1, 0, 1});
}

TEST_CASE("a .npy file is read as the format's description spells it, byte by byte", "[core][npy]") {
  // numpy.save of np.array([[1., 2.]]): magic, version 1.0, header length 118 = 0x76, header padded to 128 bytes.
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
  const std::string file = "\x93NUMPY\x01\x00\x76\x00"s + header + std::string(117 - header.size(), ' ') + "\n" +
                           "\x00\x00\x00\x00\x00\x00\xf0\x3f"s + "\x00\x00\x00\x00\x00\x00\x00\x40"s;
  REQUIRE(file.size() == 128 + 16);
  check_array<double>(decode_npy(file, "two"), {1, 2}, {1.0, 2.0});

  const test::TemporaryDirectory folder;
  std::ofstream(folder / "two.npy", std::ios::binary) << file;
  const NpyArray array = read_npy(folder / "two.npy");
  check_array<double>(array, {1, 2}, {1.0, 2.0});
  CHECK(array.origin == (folder / "two.npy").string());
}

TEST_CASE("scalars, empty arrays and arrays of many dimensions are read", "[core][npy]") {
  const auto shape_of = [](const std::string& shape, std::size_t elements) {
    const NpyArray array = decode_npy(make_file(header_of("|u1", "False", shape), std::string(elements, 'x')), shape);
    CHECK(array.size() == elements);
    return array.shape;
  };
  CHECK(shape_of("()", 1).empty());
  CHECK(shape_of("(0,)", 0) == Shape{0});
  CHECK(shape_of("(3, 0, 2)", 0) == Shape{3, 0, 2});
  CHECK(shape_of("(9223372036854775807, 9223372036854775807, 0)", 0).size() == 3);
  CHECK(shape_of("(2, 3, 2)", 12) == Shape{2, 3, 2});
  CHECK(shape_of("(2,3 ,\n2,)", 12) == Shape{2, 3, 2});
  std::string ones = "(";
  for (int i = 0; i < 64; ++i) ones += "1, ";
  CHECK(shape_of(ones + ")", 1) == Shape(64, 1));
}

TEST_CASE("the keys of the header may come in any order, with either quotes and any spaces", "[core][npy]") {
  for (const char* header : {"{'descr':'<i4','fortran_order':False,'shape':(2,)}",
                             "{\"shape\": (2,), \"fortran_order\": False, \"descr\": \"<i4\"}",
                             " { 'fortran_order' : False , 'descr' : '<i4' , 'shape' : ( 2 , ) , } \n \n"}) {
    CAPTURE(header);
    check_array<std::int32_t>(decode_npy(make_file(header, bytes_of<std::int32_t>({5, -6})), "a"), {2}, {5, -6});
  }
}

TEST_CASE("Fortran order becomes C order", "[core][npy]") {
  // Element (i, j, k) of shape (2, 3, 4) is 100 i + 10 j + k; in the file the first index runs fastest.
  std::vector<std::int32_t> stored, expected;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) stored.push_back(100 * i + 10 * j + k);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) expected.push_back(100 * i + 10 * j + k);
    }
  }
  const auto read = [](const std::string& type, const std::string& shape, const std::string& data) {
    return decode_npy(make_file(header_of(type, "True", shape), data), "a");
  };
  check_array(read("<i4", "(2, 3, 4)", bytes_of(stored)), {2, 3, 4}, expected);
  check_array<std::uint8_t>(read("|u1", "(2, 3)", "adbecf"), {2, 3}, {'a', 'b', 'c', 'd', 'e', 'f'});
  check_array<double>(read("<f8", "(2, 2)", bytes_of<double>({1, 3, 2, 4})), {2, 2}, {1, 2, 3, 4});
  check_array<std::uint8_t>(read("|u1", "(3,)", "abc"), {3}, {'a', 'b', 'c'});
  check_array<std::uint8_t>(read("|u1", "()", "a"), {}, {'a'});
  check_array<std::uint8_t>(read("|u1", "(2, 0)", ""), {2, 0}, {});
  check_array<std::uint8_t>(read("|u1", "(0, 9223372036854775807, 9223372036854775807)", ""),
                            {0, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()},
                            {});
}

TEST_CASE("a .npy file and NumPy agree on every type, shape, order and version", "[core][npy][python]") {
  const auto python = test::python_with("numpy");
  const test::TemporaryDirectory folder;
  REQUIRE(test::run_python(python, folder / "write.py", R"(
import numpy as np, os
here = os.path.dirname(__file__)
for name in ['<f4', '<f8', '<i4', '<i8', '<u8', '|u1', '|b1']:
    for shape in [(), (0,), (5,), (2, 3), (3, 0, 2), (2, 3, 4)]:
        size = int(np.prod(shape))
        values = np.arange(size) % 2 if name == '|b1' else np.arange(size) * 3
        a = values.reshape(shape).astype(name)
        for order in 'CF':
            for version in [(1, 0), (2, 0), (3, 0)]:
                path = f"{here}/{name[1:]}_{'x'.join(map(str, shape))}_{order}_{version[0]}.npy"
                with open(path, 'wb') as f:
                    np.lib.format.write_array(f, np.asarray(a, order=order), version)
np.save(here + '/plain.npy', np.float32([[1.5, -2], [3, 4]]).T)
np.save(here + '/slice.npy', np.arange(20).reshape(4, 5)[::2, 1::2])
np.save(here + '/object.npy', np.array([{}, None]), allow_pickle=True)
np.save(here + '/big.npy', np.arange(3, dtype='>f8'))
np.save(here + '/half.npy', np.arange(3, dtype='<f2'))
np.save(here + '/complex.npy', np.arange(3, dtype='<c16'))
np.save(here + '/text.npy', np.array(['a', 'b']))
np.save(here + '/date.npy', np.array(['2020-01-01'], 'M8[D]'))
np.save(here + '/structure.npy', np.zeros(3, [('größe', '<f4'), ('b', '<i4', (2,))]))
np.save(here + '/subarray.npy', np.zeros(3, np.dtype(('<f4', (2,)))))
np.savez(here + '/archive.npy.npz', a=np.zeros(3))
)"));
  const auto name_of = [](const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); };
  const auto check = [&]<class T>(T, const std::string& type, std::int64_t modulus, std::int64_t factor) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{5}, Shape{2, 3}, Shape{3, 0, 2}, Shape{2, 3, 4}}) {
      std::int64_t size = 1;
      for (const std::int64_t extent : shape) size *= extent;
      std::vector<T> values;
      for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<T>(i % modulus * factor));
      for (const char order : {'C', 'F'}) {
        for (const int version : {1, 2, 3}) {
          const auto path = folder / fmt::format("{}_{}_{}_{}.npy", type, name_of(shape), order, version);
          check_array(read_npy(path), shape, values);
        }
      }
    }
  };
  check(float{}, "f4", 1000, 3);
  check(double{}, "f8", 1000, 3);
  check(std::int32_t{}, "i4", 1000, 3);
  check(std::int64_t{}, "i8", 1000, 3);
  check(std::uint64_t{}, "u8", 1000, 3);
  check(std::uint8_t{}, "u1", 1000, 3);
  check(std::uint8_t{}, "b1", 2, 1);
  check_array<float>(read_npy(folder / "plain.npy"), {2, 2}, {1.5f, 3, -2, 4});
  check_array<std::int64_t>(read_npy(folder / "slice.npy"), {2, 2}, {1, 3, 11, 13});
  CHECK_ERROR(read_npy(folder / "object.npy"), data, "object.npy'", "'|O'", "pickle", "never read");
  CHECK_ERROR(read_npy(folder / "big.npy"), data, "big.npy'", "expected elements of type <f4, <f8",
              "'>f8' (big-endian)");
  CHECK_ERROR(read_npy(folder / "half.npy"), data, "found '<f2'");
  CHECK_ERROR(read_npy(folder / "complex.npy"), data, "found '<c16'");
  CHECK_ERROR(read_npy(folder / "text.npy"), data, "found '<U1'");
  CHECK_ERROR(read_npy(folder / "date.npy"), data, "found '<M8[D]'");
  CHECK_ERROR(read_npy(folder / "structure.npy"), data, "structure.npy'", "found a structure");
  check_array<float>(read_npy(folder / "subarray.npy"), {3, 2}, std::vector<float>(6, 0));
  CHECK_ERROR(read_npy(folder / "archive.npy.npz"), data, "expected it to begin with the byte 93 and 'NUMPY'", "'PK");
}

TEST_CASE("the elements are given as the type that is stored, or as floats", "[core][npy]") {
  const auto array_of = [](const std::string& type, const std::string& data) {
    const std::size_t size = type[2] - '0';
    const std::string shape = "(" + std::to_string(data.size() / size) + ",)";
    return decode_npy(make_file(header_of(type, "False", shape), data), "numbers.npy");
  };
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(array_of("<f4", bytes_of<float>({1.5f, -0.1f})).to_floats() == std::vector<float>{1.5f, -0.1f});
  CHECK(array_of("<f8", bytes_of<double>({0.1, -inf})).to_floats() == std::vector<float>{0.1f, -HUGE_VALF});
  CHECK(std::isnan(array_of("<f8", bytes_of<double>({std::nan("")})).to_floats().front()));
  CHECK(array_of("<i4", bytes_of<std::int32_t>({-3, 16'777'217})).to_floats() == std::vector<float>{-3, 16'777'216});
  CHECK(array_of("<i8", bytes_of<std::int64_t>({-(std::int64_t{1} << 62)})).to_floats() ==
        std::vector<float>{-0x1p62f});
  CHECK(array_of("<u8", bytes_of<std::uint64_t>({~std::uint64_t{0}})).to_floats() == std::vector<float>{0x1p64f});
  CHECK(array_of("|u1", "\x01\xff").to_floats() == std::vector<float>{1, 255});
  CHECK(array_of("|b1", "\x01"s + "\0"s).to_floats() == std::vector<float>{1, 0});

  // The largest double that rounds to a float lies just below 2^128 - 2^103.
  const double beyond = 0x1.ffffffp127, below = std::nextafter(beyond, 0.0);
  CHECK(array_of("<f8", bytes_of<double>({below, -below})).to_floats() ==
        std::vector<float>{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()});
  CHECK_ERROR(array_of("<f8", bytes_of<double>({0, beyond})).to_floats(), data, "'numbers.npy': element 1 is 3.4");
  CHECK_ERROR(array_of("<f8", bytes_of<double>({-1e300})).to_floats(), data, "element 0 is -1e+300");
  CHECK_ERROR(array_of("<f8", "").as<float>(), data, "'numbers.npy'", "expected elements of type <f4, found <f8");
  CHECK_ERROR(array_of("|b1", "").as<std::int64_t>(), data, "expected elements of type <i8, found |u1");
}

TEST_CASE("every malformed .npy file is refused in words", "[core][npy]") {
  const auto refused = [](const std::string& file, const std::string& reason) {
    CAPTURE(file);
    CHECK_ERROR(decode_npy(file, "weights.npy"), data, "'weights.npy'", reason);
  };
  const std::string four(4, '\1');
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  REQUIRE(decode_npy(make_file(good, four), "good").size() == 1);

  refused("", "truncated: expected 6 bytes for its first bytes, found 0");
  refused("\x93NUMP", "expected 6 bytes for its first bytes, found 5");
  refused("\x93NUMPZ\x01", "begin with the byte 93 and 'NUMPY', found '?NUMPZ'");
  refused("\x93NUMPY\x01", "expected 2 bytes for its version, found 1");
  refused(make_file(good, four, 4), "its version is 4.0; known are 1.0, 2.0 and 3.0");
  refused(make_file(good, four, 0), "its version is 0.0");
  refused("\x93NUMPY\x01\x01\x10", "its version is 1.1");
  refused("\x93NUMPY\x01\x00\x10"s, "expected 2 bytes for the length of its header, found 1");
  refused("\x93NUMPY\x02\x00\x10\x00"s, "expected 4 bytes for the length of its header, found 2");
  refused("\x93NUMPY\x01\x00\xff\xff{}"s, "expected 65535 bytes for its header, found 2");
  refused("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s, "its header claims 4294967295 bytes, more than the 65536");
  refused(make_file(good, four.substr(1)), "expected 4 bytes of elements (type <f4, shape (1)), found 3");
  refused(make_file(good, four + "more"), "expected 4 bytes of elements (type <f4, shape (1)), found 8");
  refused(make_file(good), "found 0");

  const auto header_refused = [&](const std::string& header, const std::string& reason) {
    refused(make_file(header, four), reason);
    refused(make_file(header, four, 2), reason);
  };
  header_refused("", "byte 0 of its header: expected '{', found the end");
  header_refused("[]", "expected '{', found '[]'");
  header_refused("{}", "has no 'descr'");
  header_refused("{,}", "expected a text in quotes");
  header_refused("{'descr': '<f4'}", "has no 'fortran_order'");
  header_refused("{'descr': '<f4', 'fortran_order': False}", "has no 'shape'");
  header_refused("{'fortran_order': False, 'shape': (1,)}", "has no 'descr'");
  header_refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "'descr' twice");
  header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'a': 1}", "the key 'a'; known are descr");
  header_refused("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
                 "byte 16 of its header: expected ',' or '}'");
  header_refused("{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}", "expected ':', found");
  header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "expected ',' or '}', found the end");
  header_refused("{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "expected");
  header_refused("{'descr", "expected a text in quotes");
  header_refused("{descr: '<f4'}", "expected a text in quotes");
  header_refused(good + "x", "expected nothing but spaces, found 'x'");
  header_refused(good + '\0', "expected text");
  header_refused("\0"s + good, "expected text");
  for (const char* order : {"false", "0", "None", "'False'", "", "Tru"}) {
    header_refused(header_of("<f4", order, "(1,)"), "expected True or False");
  }
  header_refused(header_of("<f4", "Falsee", "(1,)"), "expected ',' or '}'");
  header_refused(header_of("<f4", "False", "1"), "expected '(', found '1");
  header_refused(header_of("<f4", "False", "[1]"), "expected '('");
  header_refused(header_of("<f4", "False", "(1)"), "expected (1,)");
  header_refused(header_of("<f4", "False", "(,)"), "expected the size of a dimension");
  header_refused(header_of("<f4", "False", "(1,,)"), "expected the size of a dimension");
  header_refused(header_of("<f4", "False", "(-1,)"), "expected the size of a dimension, found '-1");
  header_refused(header_of("<f4", "False", "(1.0,)"), "expected ','");
  header_refused(header_of("<f4", "False", "(1e0,)"), "expected ','");
  header_refused(header_of("<f4", "False", "(1 1)"), "expected ','");
  header_refused(header_of("<f4", "False", "(9223372036854775808,)"), "at most 2^63 - 1");
  header_refused(header_of("<f4", "False", "(1"), "expected the size of a dimension, found '}");
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "1, ";
  header_refused(header_of("<f4", "False", ones + ")"), "more than 64 dimensions");

  for (const char* type :
       {"<f2", "<i2", "<u4", "|i1", "<c8", "|S4", "|V4", "f4", "float32", "", "<f44", "|f4", "=f4"}) {
    header_refused(header_of(type, "False", "(1,)"),
                   "expected elements of type <f4, <f8, <i4, <i8, <u8, |u1 or |b1, found '" + std::string(type) + "'");
  }
  header_refused(header_of(">f4", "False", "(1,)"), "found '>f4' (big-endian)");
  header_refused(header_of("|O", "False", "(1,)"), "found '|O' (Python objects: a pickle");
  header_refused(header_of("|O8", "False", "(1,)"), "Python objects");
  header_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "found a structure");
  header_refused("{'descr': ('<f4', (1,)), 'fortran_order': False, 'shape': (1,)}", "found a structure");
}

TEST_CASE("a boolean that is neither 0 nor 1 is refused", "[core][npy]") {
  const std::string file = make_file(header_of("|b1", "False", "(2, 2)"), "\0\1\2\1"s);
  CHECK_ERROR(decode_npy(file, "flags.npy"), data, "'flags.npy'", "element 2 of its booleans is 2, expected 0 or 1");
}

TEST_CASE("a header that claims more than the file holds asks for no memory", "[core][npy]") {
  const auto refused = [](const std::string& shape, const std::string& expected) {
    for (const char* order : {"False", "True"}) {
      CHECK_ERROR(decode_npy(make_file(header_of("<f8", order, shape), std::string(8, '\0')), "a"), data, expected,
                  "found 8");
    }
  };
  refused("(1000000000000000000,)", "expected 8000000000000000000 bytes");
  refused("(9223372036854775807,)", "expected more than 2^64 bytes");
  refused("(2305843009213693952,)", "expected more than 2^64 bytes");    // 2^61 elements: 2^64 bytes
  refused("(2305843009213693953,)", "expected more than 2^64 bytes");    // wraps around to the 8 that are there
  refused("(4294967296, 4294967296)", "expected more than 2^64 bytes");  // 2^64 elements
  refused("(4294967296, 4294967296, 0)", "expected 0 bytes");

  const test::TemporaryDirectory folder;
  std::ofstream(folder / "sparse.npy") << "x";
  std::error_code error;
  std::filesystem::resize_file(folder / "sparse.npy", (std::uintmax_t{1} << 36) + 1, error);
  REQUIRE_FALSE(error);
  CHECK_ERROR(read_npy(folder / "sparse.npy"), data, "sparse.npy", "larger than the 68719476736 bytes allowed");
}

TEST_CASE("a .npy file that cannot be opened is refused in words", "[core][npy]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(read_npy(folder / "none.npy"), data, "none.npy", "does not exist");
  CHECK_ERROR(read_npy(folder.path()), data, "is a folder");
  std::ofstream(folder / "empty.npy").close();
  CHECK_ERROR(read_npy(folder / "empty.npy"), data, "empty.npy", "truncated");
}

TEST_CASE("a .npy file cut anywhere is refused, from the disk and from memory", "[core][npy]") {
  const test::TemporaryDirectory folder;
  for (const int version : {1, 2, 3}) {
    const std::string file =
        make_file(header_of("<i4", "True", "(2, 3)"), bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}), version);
    for (std::size_t length = 0; length < file.size(); ++length) {
      CAPTURE(version, length);
      CHECK_ERROR(decode_npy(file.substr(0, length), "cut.npy"), data, "cut.npy");
      std::ofstream(folder / "cut.npy", std::ios::binary) << file.substr(0, length);
      CHECK_ERROR(read_npy(folder / "cut.npy"), data, "cut.npy");
    }
  }
}

TEST_CASE("a .npy file with any byte changed is read or refused, never worse", "[core][npy]") {
  Draws draws({.seed = 4, .step = 0, .stream = Stream::test}, 0);
  for (const int version : {1, 2, 3}) {
    const std::string header = header_of("<i4", "True", "(2, 3)");
    const std::string file = make_file(header, bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}), version);
    const std::size_t headed = file.size() - 24;
    int refused = 0;
    const auto try_with = [&](std::size_t place, char byte) {
      std::string altered = file;
      altered[place] = byte;
      try {
        const NpyArray array = decode_npy(altered, "altered");
        REQUIRE(array.bytes.size() == 24);
      } catch (const Error& error) {
        ++refused;
        REQUIRE(error.kind() == ErrorKind::data);
        const std::string_view sentence = error.what();
        REQUIRE(std::ranges::none_of(sentence, [](char c) { return c >= '\0' && c < ' '; }));  // prints on one line
      }
    };
    for (std::size_t place = 0; place < headed; ++place) {
      for (int byte = 0; byte < 256; ++byte) try_with(place, static_cast<char>(byte));
    }
    CHECK(refused > 10'000);
    for (int trial = 0; trial < 10'000; ++trial) {
      std::string altered = file;
      for (int i = 0; i < 3; ++i) {
        altered[draws.integer(static_cast<std::uint32_t>(headed))] = static_cast<char>(draws.integer(256));
      }
      try {
        decode_npy(altered, "altered");
      } catch (const Error& error) {
        REQUIRE(error.kind() == ErrorKind::data);
      }
    }
  }
}

}  // namespace
}  // namespace stein
