// Weights in checkpoints: read where rows have other padding, on another device, and as they were saved before.
#include <stein/core/rng.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/saved_weights.h>

#include <catch2/catch.hpp>
#include <utility>

#include "core/error_matcher.h"
#include "inference/fenced_device.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Two networks [2, P] of numbers, zeros in the padding.
template <class Scalar>
Matrix<Scalar> padded_weights(const Layout& layout) {
  Matrix<Scalar> packed(2, layout.coordinate_count()), weights(2, layout.size());
  for (std::int64_t i = 0; i < 2; ++i) fill_normal(packed.row(i), {.seed = 8}, static_cast<std::uint32_t>(i));
  add_padding<Scalar>(layout, std::as_const(packed).view(), weights.view());
  return weights;
}

template <class Scalar>
bool same(const Matrix<Scalar>& a, const Matrix<Scalar>& b) {
  for (std::int64_t i = 0; i < a.rows(); ++i)
    if (!std::ranges::equal(a.row(i), b.row(i))) return false;
  return a.rows() == b.rows() && a.columns() == b.columns();
}

}  // namespace

TEMPLATE_TEST_CASE("weights are read with another padding than they were saved with", "[inference]", float, double) {
  const MlpSpec network{.inputs = 5, .hidden = {9, 17}, .outputs = 3};
  const Layout none = mlp_layout(network, 1), eight = mlp_layout(network, 8), sixteen = mlp_layout(network, 16);
  const Matrix<TestType> expected = padded_weights<TestType>(sixteen);
  Snapshot saved;
  save_weights(saved, "weights", eight, padded_weights<TestType>(eight));
  Matrix<TestType> found(2, sixteen.size());
  restore_weights(saved, "weights", sixteen, found);
  CHECK(same(found, expected));
  const Device device = test::fenced_device();
  Matrix<TestType> there(2, none.size(), device);
  restore_weights(saved, "weights", none, there);
  CHECK(same(there.to({}), padded_weights<TestType>(none)));
  Snapshot from_device;
  save_weights(from_device, "weights", none, there);
  found.fill(9);
  restore_weights(from_device, "weights", sixteen, found);
  CHECK(same(found, expected));
}

TEST_CASE("weights that were saved with their padding are read where it is the same", "[inference]") {
  const MlpSpec network{.inputs = 5, .hidden = {9, 17}, .outputs = 3};
  const Layout eight = mlp_layout(network, 8);
  const Matrix<float> expected = padded_weights<float>(eight);
  Snapshot before;
  expected.save(before, "weights");
  Matrix<float> found(2, eight.size());
  restore_weights(before, "weights", eight, found);
  CHECK(same(found, expected));
  const Layout sixteen = mlp_layout(network, 16);
  Matrix<float> wider(2, sixteen.size());
  CHECK_ERROR(restore_weights(before, "weights", sixteen, wider), data, "weights");
}

TEST_CASE("weights that were saved with another padding are refused, also where they fill the room of rows",
          "[inference]") {
  const MlpSpec network{.inputs = 3, .hidden = {63}, .outputs = 1};
  const Layout none = mlp_layout(network, 1), eight = mlp_layout(network, 8);
  Matrix<double> saved(1, eight.size()), found(1, none.size());
  REQUIRE(saved.view().stride == found.view().stride);
  Snapshot before;
  saved.save(before, "weights");
  CHECK_ERROR(restore_weights(before, "weights", none, found), data, "weights");
}
