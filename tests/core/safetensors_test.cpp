#include <stein/core/atomic_file.h>
#include <stein/core/read_file.h>
#include <stein/core/rng.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "core/error_matcher.h"
#include "core/python.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

Snapshot sample_snapshot() {
  Snapshot snapshot;
  snapshot.put("f32", std::vector<float>{1.5f, -0.0f, std::numeric_limits<float>::infinity(), 4, 5, 6});
  snapshot.put<double>("matrix/f64", std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {2, 3});
  snapshot.put("i32", std::vector<std::int32_t>{-1, 2, 3});
  snapshot.put("i64", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  snapshot.put("u64", std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 1});
  snapshot.put("u8", std::vector<std::uint8_t>{7, 8, 9});
  snapshot.put("empty", std::vector<float>{});
  snapshot.put_text("note", "größer than \"ASCII\"\n");
  return snapshot;
}

void check_equal(const Snapshot& a, const Snapshot& b) {
  CHECK(a.texts() == b.texts());
  REQUIRE(a.arrays().size() == b.arrays().size());
  for (const auto& [name, array] : a.arrays()) {
    CAPTURE(name);
    const Snapshot::Array& other = b.arrays().at(name);
    CHECK(array.type == other.type);
    CHECK(array.shape == other.shape);
    CHECK(array.bytes == other.bytes);
  }
}

/// A file with `header` and `data` as they are.
std::string make_file(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + data;
}

TEST_CASE("safetensors keep every bit of every type, and the same content gives the same bytes",
          "[core][safetensors]") {
  const test::TemporaryDirectory folder;
  const Snapshot snapshot = sample_snapshot();
  write_safetensors(folder / "a.safetensors", snapshot);
  write_safetensors(folder / "b.safetensors", read_safetensors(folder / "a.safetensors"));
  check_equal(read_safetensors(folder / "a.safetensors"), snapshot);
  const std::string bytes = read_file(folder / "a.safetensors");
  CHECK(bytes == read_file(folder / "b.safetensors"));
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  CHECK(header % 8 == 0);
}

TEST_CASE("safetensors in memory have the bytes of the file", "[core][safetensors]") {
  const test::TemporaryDirectory folder;
  write_safetensors(folder / "state.safetensors", sample_snapshot());
  CHECK(encode_safetensors(sample_snapshot()) == read_file(folder / "state.safetensors"));
}

TEST_CASE("safetensors and the Python package read each other", "[core][safetensors][python]") {
  const auto python = test::python_with("numpy,safetensors.numpy");
  const test::TemporaryDirectory folder;
  write_safetensors(folder / "ours.safetensors", sample_snapshot());
  REQUIRE(test::run_python(python, folder / "check.py", R"(
import numpy as np, os
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
here = os.path.dirname(__file__)
a = load_file(here + '/ours.safetensors')
inf = np.inf
expected = {
    'f32': np.array([1.5, -0.0, inf, 4, 5, 6], np.float32),
    'matrix/f64': np.array([[.1, .2, .3], [.4, .5, .6]]),
    'i32': np.array([-1, 2, 3], np.int32),
    'i64': np.array([-2**63], np.int64),
    'u64': np.array([2**64 - 1, 1], np.uint64),
    'u8': np.array([7, 8, 9], np.uint8),
    'empty': np.zeros(0, np.float32),
}
assert a.keys() == expected.keys(), a.keys()
for name, value in expected.items():
    assert a[name].dtype == value.dtype and a[name].shape == value.shape, name
    assert a[name].tobytes() == value.tobytes(), name
with safe_open(here + '/ours.safetensors', 'np') as f:
    assert f.metadata() == {'note': 'größer than "ASCII"\n'}, f.metadata()
save_file(expected, here + '/theirs.safetensors', metadata={'note': 'größer than "ASCII"\n'})
save_file({'scalar': np.array(2.5)}, here + '/scalar.safetensors')
)"));
  check_equal(read_safetensors(folder / "theirs.safetensors"), sample_snapshot());
  const Snapshot scalar = read_safetensors(folder / "scalar.safetensors");
  CHECK(scalar.get_scalar<double>("scalar") == 2.5);
  CHECK(scalar.arrays().at("scalar").shape.empty());
}

TEST_CASE("every malformed safetensors file is refused in words", "[core][safetensors]") {
  const auto refused = [](const std::string& file, const std::string& reason) {
    CAPTURE(file);
    CHECK_ERROR(decode_safetensors(file, "weights.safetensors"), data, "'weights.safetensors'", reason);
  };
  const std::string four(4, 'd');
  refused("", "too few");
  refused("1234567", "too few");
  refused(std::string(8, '\xff'), "more than the format allows");
  refused(make_file("{}").substr(0, 9), "but only 1 follow");
  refused(make_file("{"), "not JSON");
  const std::string deep =
      std::string(200'000, '[') + std::string(200'000, ']');  // to copy or to write it needs 200,000 calls
  refused(make_file(R"({"a": {"dtype": )" + deep + R"(, "shape": [], "data_offsets": [0, 0]}})"),
          "nested deeper than 4 levels");
  refused(make_file(R"({"a": {"dtype": "F32", "shape": [)" + deep + R"(], "data_offsets": [0, 0]}})"), "nested deeper");
  refused(make_file(R"({"a\n": 1})"), R"(array 'a\n' is no JSON object)");
  refused(make_file("[]"), "no JSON object");
  refused(make_file("\xff\xfe"), "not JSON");
  refused(make_file(std::string(100'000, '[')), "nested deeper");
  refused(make_file(R"({"a":1})"), "no JSON object");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1]}})"), "no 'data_offsets'");
  refused(make_file(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", four), "unknown type \"F16\"");
  refused(make_file(R"({"a":{"dtype":3,"shape":[2],"data_offsets":[0,4]}})", four), "unknown type 3");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", four), "cannot have 4 bytes");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", four), "where a size is expected");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", four), "where a size is expected");
  refused(make_file(R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", four), "no JSON array");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", four), "malformed data_offsets");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", four), "malformed data_offsets");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "123"), "truncated");
  refused(make_file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "12345"), "belong to no array");
  refused(make_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})", four), "belong to no array");
  refused(
      make_file(
          R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
          four),
      "overlaps");
  refused(
      make_file(
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
          four),
      "'a' is given twice");
  refused(make_file(R"({"a":{"dtype":"U8","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"),
          "cannot have 0 bytes");
  refused(make_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615]}})"), "absurd");
  refused(make_file(R"({"__metadata__":{"a":1}})"), "not a string");
  refused(make_file(R"({"__metadata__":[]})"), "no JSON object");
}

TEST_CASE("a header that is not JSON is not repeated in the message", "[core][safetensors]") {
  const std::string noise = "{\"a" + std::string(3000, '\x01') + "\xff";
  try {
    static_cast<void>(decode_safetensors(make_file(noise), "file"));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).ends_with("its header is not JSON"));
  }
}

TEST_CASE("a safetensors file cut anywhere or with any byte changed is read or refused, never worse",
          "[core][safetensors]") {
  const test::TemporaryDirectory folder;
  write_safetensors(folder / "a.safetensors", sample_snapshot());
  const std::string bytes = read_file(folder / "a.safetensors");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(decode_safetensors(std::string_view(bytes).substr(0, length), "cut"), Error);
  }
  Draws draws({.seed = 3, .step = 0, .stream = Stream::test}, 0);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string altered = bytes;
    altered[draws.integer(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(draws.integer(256));
    try {
      decode_safetensors(altered, "altered");
    } catch (const Error& error) {
      REQUIRE(error.kind() == ErrorKind::data);
    }
  }
}

TEST_CASE("what safetensors cannot hold is refused when writing", "[core][safetensors]") {
  const test::TemporaryDirectory folder;
  Snapshot reserved;
  reserved.put("__metadata__", 1.0);
  CHECK_ERROR(write_safetensors(folder / "a", reserved), usage, "__metadata__");
  Snapshot binary;
  binary.put_text("text", "\xff\xfe");
  CHECK_ERROR(write_safetensors(folder / "a", binary), usage, "UTF-8");
  Snapshot twice;
  twice.put_text("text", "one");
  CHECK_ERROR(write_safetensors(folder / "a", twice, {{"text", "two"}}), usage, "'text' is given twice");
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace stein
