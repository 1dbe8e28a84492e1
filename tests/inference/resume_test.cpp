// 200 steps are 100, a checkpoint on disk, and 100 more: the same bytes for every sampler and every form of the
// weights, at one thread before and two after.
#include <stein/core/checkpoint.h>
#include <stein/core/parallel.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/rollback_sampler.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/santa.h>
#include <stein/inference/samplers/sgnht.h>
#include <stein/inference/targets/network_posterior.h>

#include <catch2/catch.hpp>

#include "core/temporary_directory.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t particle_count = 3, data_rows = 30, minibatch = 10;

/// A sampler that can be rolled back, its particles and what it samples: all that a trainer saves.
class Trainer {
 public:
  Trainer(const SamplerChoice& sampler, WeightForm form)
      : posterior_(make_network_posterior(
            {.parameterization = form, .structure = {.reflectors = 2}},
            {.inputs = 3, .hidden = {5}, .outputs = 1, .activation = Activation::tanh, .learn_noise_precision = true})),
        particles_(posterior_->initial_particles(particle_count, 3, 1)),
        sampler_(sampler.make(particles_.ensemble(7)), {.keep_every = 64}) {
    fill_normal(std::span<float>(x_), {.seed = 1}, 0);
    fill_normal(std::span<float>(y_), {.seed = 1}, 1);
  }
  void train(std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) {
      const std::int64_t first = t % (data_rows / minibatch) * minibatch;
      const Batch<float> batch{.inputs = {.dense = {x_.data() + 3 * first, minibatch, 3}},
                               .targets = {y_.data() + first, minibatch, 1},
                               .rows = minibatch,
                               .data_size = data_rows};
      sampler_.step(particles_, *posterior_, batch);
    }
  }
  Snapshot state() const {
    Snapshot whole;
    whole.put_saved("particles", particles_);
    whole.put_saved("sampler", sampler_);
    whole.put_saved("target", *posterior_);
    return whole;
  }
  void restore(const Snapshot& state) {
    particles_.restore(state.part("particles"));
    sampler_.restore(state.part("sampler"));
    posterior_->restore(state.part("target"));
  }

 private:
  std::vector<float> x_ = std::vector<float>(data_rows * 3), y_ = std::vector<float>(data_rows);
  std::unique_ptr<Posterior<float>> posterior_;
  Particles<float> particles_;
  RollbackSampler<float> sampler_;
};

void check_resume(const SamplerChoice& sampler, WeightForm form) {
  CAPTURE(static_cast<int>(form));
  const test::TemporaryDirectory folder;
  const int threads = thread_count();
  Trainer whole(sampler, form), first(sampler, form), second(sampler, form);
  whole.train(0, 200);
  set_thread_count(1);
  first.train(0, 100);
  save_checkpoint(folder.path(), 100, first.state());
  second.restore(load_latest_checkpoint(folder.path())->state);
  set_thread_count(2);
  second.train(100, 200);
  set_thread_count(threads);
  const Snapshot expected = whole.state(), found = second.state();
  CHECK(found.texts() == expected.texts());
  REQUIRE(found.arrays().size() == expected.arrays().size());
  for (const auto& [name, array] : expected.arrays()) {
    INFO(name);
    CHECK(found.arrays().at(name).bytes == array.bytes);
  }
}

}  // namespace

TEST_CASE("every sampler resumes to the bit", "[inference][resume]") {
  for (const std::string& name : samplers().names())
    for (const WeightForm form : {WeightForm::direct, WeightForm::matrix_gaussian}) {
      CAPTURE(name);
      check_resume(samplers().at(name).defaults, form);
    }
}

TEST_CASE("the forms of a sampler that are not its default resume to the bit", "[inference][resume]") {
  for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop})
    check_resume(SamplerChoice::of<Optimizer<float>>({.method = method}), WeightForm::direct);
  check_resume(SamplerChoice::of<Sgnht<float>>({.thermostat = Thermostat::particle}), WeightForm::direct);
  check_resume(SamplerChoice::of<Santa<float>>({.scheme = SantaScheme::euler}), WeightForm::direct);
}

TEST_CASE("a variational run resumes to the bit", "[inference][resume]") {
  for (const char* name : {"optimizer", "sgld"})
    check_resume(samplers().at(name).defaults, WeightForm::variational_matrix_gaussian);
}
