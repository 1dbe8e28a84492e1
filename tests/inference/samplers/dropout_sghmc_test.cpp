// D-SGHMC (Hernández et al. 2020): SGHMC at keep = 1, and the masks below it.
#include "core/error_matcher.h"
#include "inference/ensemble_of.h"

#include <stein/inference/samplers/dropout_sghmc.h>

#include <catch2/catch.hpp>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

/// log p = −Σ φ²/2, and a record of the masks that it was asked with.
class MaskedQuadratic final : public Target<double> {
 public:
  MaskedQuadratic() { layout_.add("x", {3}, Role::weight); }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const double>& coordinates, const Batch<double>& batch, const NoiseKey&,
                const Evaluation<double>& wanted) override {
    const MatrixView<double> gradient = wanted.gradient;
    for (std::int64_t i = 0; i < gradient.rows; ++i)
      for (std::int64_t j = 0; j < gradient.columns; ++j) gradient(i, j) = -coordinates.values(i, j);
    std::vector<double>& mask = masks.emplace_back();
    for (std::int64_t r = 0; batch.input_mask.data != nullptr && r < batch.input_mask.rows; ++r)
      for (const double m : batch.input_mask.row(r)) mask.push_back(m);
  }
  std::vector<std::vector<double>> masks;

 private:
  Layout layout_;
};

const std::vector<double> ones(500 * 40, 1.0);
const Batch<double> data{.inputs = {.dense = {ones.data(), 500, 40}}, .rows = 500, .data_size = 500};

}  // namespace

TEST_CASE("D-SGHMC that keeps every input is SGHMC, bit for bit", "[inference][dropout_sghmc]") {
  const SghmcOptions sghmc{.step = {.step_size = 0.1}, .friction = 0.3};
  DropoutSghmc<double> masked({.sghmc = sghmc, .keep = 1}, ensemble_of(2, 3, 7));
  Sghmc<double> plain(sghmc, ensemble_of(2, 3, 7));
  MaskedQuadratic target;
  Particles<double> one(target.layout(), 2), other(target.layout(), 2);
  for (int t = 0; t < 20; ++t) {
    masked.step(one, target, data);
    plain.step(other, target, data);
  }
  for (std::int64_t i = 0; i < 2; ++i) CHECK(std::ranges::equal(one.values().row(i), other.values().row(i)));
}

TEST_CASE("a mask of D-SGHMC holds for all inner moves, and hides its share of the inputs",
          "[inference][dropout_sghmc]") {
  const double keep = GENERATE(0.1, 0.5, 0.9);
  DropoutSghmc<double> sampler({.sghmc = {.step = {.step_size = 0.1}}, .keep = keep, .inner_steps = 3},
                               ensemble_of(1, 3, 7));
  MaskedQuadratic target;
  Particles<double> particles(target.layout(), 1);
  for (int t = 0; t < 2; ++t) sampler.step(particles, target, data);
  REQUIRE(target.masks.size() == 6);
  CHECK(sampler.steps() == 6);
  CHECK((target.masks[0] == target.masks[1] && target.masks[0] == target.masks[2]));
  CHECK((target.masks[3] == target.masks[4] && target.masks[3] == target.masks[5]));
  CHECK(target.masks[0] != target.masks[3]);
  for (const std::size_t which : {0, 3}) {
    double seen = 0;
    for (const double m : target.masks[which]) {
      CHECK((m == 0 || m == 1 / keep));
      seen += m > 0;
    }
    CHECK(std::abs(seen - 20000 * keep) < 6.1 * std::sqrt(20000 * keep * (1 - keep)));
  }
}

TEST_CASE("the mask of D-SGHMC shares no random numbers with any particle", "[inference][dropout_sghmc]") {
  DropoutSghmc<double> sampler({.sghmc = {.step = {.step_size = 0.1}}, .keep = 0.5}, ensemble_of(1, 3, 7));
  MaskedQuadratic target;
  Particles<double> particles(target.layout(), 1);
  sampler.step(particles, target, data);
  for (std::uint32_t row = 0; row < 100; ++row) {
    std::vector<double> mask;
    for (std::uint32_t i = 0; mask.size() < target.masks[0].size(); ++i)
      for (const std::uint32_t word : random_block({.seed = 7, .stream = Stream::sampler}, row, i))
        mask.push_back(word < 2147483648U ? 2 : 0);
    CHECK(mask != target.masks[0]);
  }
}

TEST_CASE("D-SGHMC continues from a checkpoint with the same masks and the same bits", "[inference][dropout_sghmc]") {
  const DropoutSghmcOptions options{.sghmc = {.step = {.step_size = 0.1}}, .inner_steps = 2};
  DropoutSghmc<double> through(options, ensemble_of(1, 3, 7)), first(options, ensemble_of(1, 3, 7)),
      second(options, ensemble_of(1, 3, 7));
  MaskedQuadratic target, resumed;
  Particles<double> one(target.layout(), 1), other(target.layout(), 1);
  for (int t = 0; t < 10; ++t) through.step(one, target, data);
  for (int t = 0; t < 5; ++t) first.step(other, resumed, data);
  Snapshot snapshot;
  first.save(snapshot);
  second.restore(snapshot);
  for (int t = 0; t < 5; ++t) second.step(other, resumed, data);
  CHECK(std::ranges::equal(one.values().row(0), other.values().row(0)));
  CHECK(target.masks == resumed.masks);
}

TEST_CASE("a step of D-SGHMC explores where the first of its inner moves does", "[inference][dropout_sghmc]") {
  // A cycle of eight moves, two a step: the first four explore, the steps 0 and 1 of four.
  DropoutSghmc<double> sampler(
      {.sghmc = {.step = {.step_size = 0.1, .cycle_steps = 8}, .temperature = {.exploration_share = 0.5}},
       .inner_steps = 2},
      ensemble_of(1, 3, 7));
  MaskedQuadratic target;
  Particles<double> particles(target.layout(), 1);
  for (std::int64_t t = 0; t < 12; ++t) {
    CAPTURE(t);
    CHECK(sampler.exploring(t) == (t % 4 < 2));
    CHECK(sampler.step(particles, target, data).exploring == (t % 4 < 2));
  }
}

TEST_CASE("the published settings of D-SGHMC in the terms of the equation", "[inference][dropout_sghmc]") {
  const DropoutSghmcOptions options = DropoutSghmcOptions::as_published(1e-4, 1);
  CHECK(options.sghmc.friction == 0.5);
  CHECK(options.sghmc.step.step_size == Approx(1e-6));
}

TEST_CASE("D-SGHMC refuses what it cannot mask", "[inference][dropout_sghmc]") {
  CHECK_ERROR(DropoutSghmc<double>({.keep = 0}, ensemble_of(1, 3, 7)), usage, "keep");
  CHECK_ERROR(DropoutSghmc<double>({.inner_steps = 0}, ensemble_of(1, 3, 7)), usage, "inner_steps");
  DropoutSghmc<double> sampler({}, ensemble_of(1, 3, 7));
  MaskedQuadratic target;
  Particles<double> particles(target.layout(), 1);
  CHECK_ERROR(sampler.step(particles, target, {.rows = 5, .data_size = 5}), usage, "dense inputs");
  Batch<double> masked = data;
  masked.input_mask = data.inputs.dense;
  CHECK_ERROR(sampler.step(particles, target, masked), usage, "without mask");
}
