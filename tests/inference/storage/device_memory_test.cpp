// Matrices on a device that is not the host.
#include <stein/core/component.h>
#include <stein/inference/particles.h>
#include <stein/inference/storage/carried_state.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/fenced_device.h"

using namespace stein;
using namespace stein::inference;

namespace {

Matrix<float> counted(std::int64_t rows, std::int64_t columns) {
  Matrix<float> matrix(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) matrix.view()(i, j) = static_cast<float>(100 * i + j);
  return matrix;
}

bool same_numbers(const Matrix<float>& a, const Matrix<float>& b) {
  bool equal = a.rows() == b.rows() && a.columns() == b.columns();
  for (std::int64_t i = 0; equal && i < a.rows(); ++i) equal = std::ranges::equal(a.row(i), b.row(i));
  return equal;
}

}  // namespace

TEST_CASE("a matrix on a device begins with zeros, which the host cannot read by their address",
          "[inference][storage]") {
  const Device device = test::fenced_device();
  const Matrix<float> matrix(3, 21, device);
  CHECK(matrix.device() == device);
  CHECK_FALSE(matrix.empty());
  CHECK_FALSE(test::readable(matrix.view().data));
  CHECK(test::readable(Matrix<float>(3, 21).view().data));
  CHECK(same_numbers(matrix.to({}), Matrix<float>(3, 21)));
}

TEST_CASE("a matrix goes to a device, is copied there and comes back with its numbers", "[inference][storage]") {
  const Device device = test::fenced_device();
  const std::size_t before = test::Fence::instance().blocks();
  {
    const Matrix<float> host = counted(3, 21);
    const Matrix<float> there = host.to(device);
    Matrix<float> copy = there;
    copy.fill(2);
    CHECK(same_numbers(there.to({}), host));
    CHECK(same_numbers(host_copy<float>(there.view(), device), host));
    Matrix<float> twos(3, 21);
    twos.fill(2);
    CHECK(same_numbers(copy.to({}), twos));
    const Matrix<float> moved = std::move(copy);
    CHECK(copy.empty());  // NOLINT(bugprone-use-after-move)
    CHECK(same_numbers(moved.to({}), twos));
    CHECK(moved.to({}).view().data[21] == 0);  // between the rows
  }
  CHECK(test::Fence::instance().blocks() == before);
  Matrix<double> wide(1, 1, device);
  CHECK_ERROR(wide.fill(1), usage, "only floats");
}

TEST_CASE("a matrix of a device is saved and restored as one of the host", "[inference][storage]") {
  const Device device = test::fenced_device();
  const Matrix<float> host = counted(2, 5);
  Snapshot from_host, from_device;
  host.save(from_host, "m");
  host.to(device).save(from_device, "m");
  CHECK(from_host.arrays().at("m").bytes == from_device.arrays().at("m").bytes);
  CHECK(from_host.arrays().at("m").shape == from_device.arrays().at("m").shape);
  Matrix<float> there(2, 5, device), narrow(2, 4, device);
  const float* const place = there.view().data;
  there.restore(from_host, "m");
  CHECK(there.view().data == place);  // views of it stay valid
  CHECK(same_numbers(there.to({}), host));
  CHECK_ERROR(narrow.restore(from_host, "m"), data, "'m'", "10 elements");
}

TEST_CASE("a device whose library was not built is refused", "[inference][storage]") {
  if (!has_component("cuda"))
    CHECK_ERROR(Matrix<float>(1, 1, {.kind = Device::Kind::cuda}), usage, "without its library 'cuda'");
  CHECK_ERROR(device_memory(Device::Kind::host), usage, "the host has none");
}

TEST_CASE("a device is read by its name, and whatever is none is refused", "[inference][storage]") {
  CHECK(parse_device("cpu") == Device{});
  CHECK(parse_device("cuda") == Device{.kind = Device::Kind::cuda});
  CHECK(parse_device("cuda:3") == Device{.kind = Device::Kind::cuda, .index = 3});
  for (const char* name : {"cpu", "cuda", "cuda:3"}) CHECK(device_name(parse_device(name)) == name);
  for (const char* odd : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda1", "CUDA", "cuda:99999999999"})
    CHECK_ERROR(parse_device(odd), usage, "expects cpu, cuda or cuda:INDEX", std::string("got '") + odd + "'");
}

TEST_CASE("processes of a machine take its devices in turn, and what is said by its index is taken by all",
          "[inference][storage]") {
  const Device device = test::fenced_device();  // one of three
  for (std::int32_t process = 0; process < 7; ++process)
    CHECK(device_of_process(device.kind, process) == Device{.kind = device.kind, .index = process % 3});
  set_process_on_machine(2);
  CHECK(own_device("cuda:5") == Device{.kind = Device::Kind::cuda, .index = 5});
  CHECK(own_device("cpu") == Device{});
  CHECK(own_device("fenced") == Device{.kind = device.kind, .index = 2});
  if (!has_component("cuda")) CHECK_ERROR(own_device("cuda"), usage, "without its library 'cuda'");
  set_process_on_machine(0);
  CHECK(own_device("cuda") == Device{.kind = Device::Kind::cuda});
  CHECK_ERROR(own_device("gpu"), usage, "expects cpu, cuda or cuda:INDEX");
}

TEST_CASE("another library reads a device's memory while it is in use, and only then", "[inference][storage]") {
  const Device device = test::fenced_device();
  const Matrix<float> there(2, 3, device), here(2, 3);
  {
    const DeviceUse outer(device);
    { const DeviceUse inner(device); }
    CHECK(test::readable(there.view().data));
  }
  CHECK_FALSE(test::readable(there.view().data));
  CHECK(lies_on(device, there.view().data + 5));
  CHECK_FALSE(lies_on(device, here.view().data));
  CHECK(lies_on({}, here.view().data));
  check_present({});
  CHECK(device_memory(device.kind).model(0) == "fenced memory of the host");
}

TEST_CASE("carried state of a device is accepted, saved and restored as that of the host", "[inference][carried]") {
  const Device device = test::fenced_device();
  CarriedState<float> here(2, 5), there(2, 5, device);
  const auto leave = [&](CarriedState<float>& state, float number) {
    Matrix<float> numbers(2, 5);
    numbers.fill(number);
    const CarriedRows<float> rows = state.rows();
    copy_rows<float>(numbers.to(rows.device).view(), rows.after, rows.device);
    rows.accept();
  };
  leave(here, 3), leave(there, 3);
  Snapshot saved, saved_there, rows, rows_there;
  here.save(saved), there.save(saved_there);
  here.rows().save(rows), there.rows().save(rows_there);
  CHECK(saved.arrays().at("carried").bytes == saved_there.arrays().at("carried").bytes);
  CHECK(rows.arrays().at("carried").bytes == rows_there.arrays().at("carried").bytes);
  leave(there, 4);
  Snapshot second;
  here.rows().block(1, 1).save(second);
  there.rows().block(1, 1).restore(second);
  CHECK(host_copy<float>(there.rows().before, device).view()(0, 4) == 4);
  CHECK(host_copy<float>(there.rows().before, device).view()(1, 4) == 3);
  there.reset();
  CHECK(host_copy<float>(there.rows().before, device).view()(1, 4) == 0);
}
