// SVGD whose moves ranks share: each of them has the particles of one process, bit for bit, and the first its state
// once it has been brought together.
#include <stein/core/safetensors.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/svgd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "distributed/thread_ranks.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// A pull towards 1 that is longer for later coordinates. @param broken  a particle whose pull is beyond all bounds
template <class Scalar>
class Pull final : public Target<Scalar> {
 public:
  explicit Pull(std::int64_t size, std::int64_t broken = -1) : broken_(broken) {
    layout_.add("position", {size}, Role::weight);
  }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>&, const NoiseKey&,
                const Evaluation<Scalar>& wanted) override {
    for (std::int64_t i = 0; i < coordinates.values.rows; ++i)
      for (std::int64_t q = 0; q < coordinates.values.columns; ++q)
        wanted.gradient(i, q) = coordinates.first_row + i == broken_
                                    ? std::numeric_limits<Scalar>::max()
                                    : (1 - coordinates.values(i, q)) * static_cast<Scalar>(1 + q);
  }

 private:
  Layout layout_;
  std::int64_t broken_;
};

template <class Scalar>
Particles<Scalar> start(const Layout& layout, std::int64_t rows) {
  Particles<Scalar> particles(layout, rows);
  for (std::int64_t i = 0; i < rows; ++i)
    fill_normal(particles.values().row(i), {.seed = 7}, static_cast<std::uint32_t>(i));
  return particles;
}

SvgdOptions with(SvgdKernel kernel, OptimizerMethod method) {
  return {.kernel = {.kernel = kernel}, .optimizer = {.method = method, .step = {.step_size = 1e-4}}};
}

/// Particles and state after so many steps, with those that could be gone back to, as bytes. Where ranks share them
/// they are brought together in the middle too, as at a checkpoint.
template <class Scalar>
std::string moved(const SvgdOptions& options, std::int64_t rows, Arithmetic arithmetic,
                  distributed::Communicator* ranks) {
  Pull<Scalar> target(37);
  Particles<Scalar> particles = start<Scalar>(target.layout(), rows);
  RollbackSampler<Scalar> sampler(std::make_unique<Svgd<Scalar>>(options, particles.ensemble(3, arithmetic)),
                                  {.keep_every = 3});
  if (ranks != nullptr) sampler.share_moves(*ranks);
  for (int t = 0; t < 8; ++t) {
    sampler.step(particles, target, {});
    if (t == 2) sampler.bring_together();
  }
  sampler.bring_together();
  Snapshot snapshot;
  sampler.save(snapshot);
  for (std::int64_t i = 0; i < rows; ++i)
    snapshot.put("row" + std::to_string(i),
                 std::vector<Scalar>(particles.values().row(i).begin(), particles.values().row(i).end()));
  return encode_safetensors(snapshot);
}

/// How many ranks have these bytes, and how many messages they exchanged.
template <class Scalar>
void check_alike(const SvgdOptions& options, std::int64_t rows, Arithmetic arithmetic, bool shares) {
  const std::string alone = moved<Scalar>(options, rows, arithmetic, nullptr);
  for (const int count : {2, 3, 4}) {
    std::atomic<int> alike = 0;
    std::atomic<std::int64_t> exchanges = 0;
    test::on_ranks(count, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
      alike += moved<Scalar>(options, rows, arithmetic, ranks.get()) == alone ? 1 : 0;
      exchanges += ranks->sharing().exchanges;
    });
    CAPTURE(rows, count, static_cast<int>(arithmetic), static_cast<int>(options.kernel.kernel));
    CHECK(alike == count);
    CHECK((exchanges > 0) == shares);
  }
}

}  // namespace

TEST_CASE("ranks that share the moves of SVGD have the bits of one process, its optimizer's averages too",
          "[inference][svgd][distributed]") {
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear})
    for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop, OptimizerMethod::adam}) {
      check_alike<float>(with(kernel, method), 70, Arithmetic::fused, true);
      check_alike<float>(with(kernel, method), 64, Arithmetic::reference, true);
    }
  check_alike<double>(with(SvgdKernel::rbf, OptimizerMethod::adam), 65, Arithmetic::reference, true);
}

TEST_CASE("few particles are moved by every rank, which would wait longer for one another",
          "[inference][svgd][distributed]") {
  check_alike<float>(with(SvgdKernel::rbf, OptimizerMethod::adam), Svgd<float>::least_shared - 1, Arithmetic::fused,
                     false);
}

TEST_CASE("a particle that one rank moves out of the finite numbers ends the step on all, in the same words",
          "[inference][svgd][distributed]") {
  const std::int64_t broken = GENERATE(0, 40, 69);
  const auto said = [&](distributed::Communicator* ranks) -> std::string {
    Pull<float> target(37, broken);
    Particles<float> particles = start<float>(target.layout(), 70);
    SvgdOptions options = with(SvgdKernel::rbf, OptimizerMethod::sgd);
    options.optimizer.step.step_size = 1e6;
    options.kernel.bandwidth_rule = Bandwidth::fixed;
    options.kernel.bandwidth = 1e-2;  // so narrow that no other particle feels it
    Svgd<float> sampler(options, particles.ensemble(3));
    if (ranks != nullptr) sampler.share_moves(*ranks);
    try {
      sampler.step(particles, target, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string alone = said(nullptr);
  CHECK(alone == "the value of position[0] of particle " + std::to_string(broken) + " is inf at update 0");
  std::atomic<int> alike = 0;
  test::on_ranks(
      3, [&](const std::shared_ptr<distributed::Communicator>& ranks) { alike += said(ranks.get()) == alone ? 1 : 0; });
  CHECK(alike == 3);
}
