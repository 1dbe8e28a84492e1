#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/rng.h>
#include <stein/torch/tensor_threads.h>

#include <ATen/Functions.h>
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace stein::bench {

std::vector<MushroomCase> mushroom_cases() {
  return {{"svgd-onehot", false, true},
          {"svgd-dense", false, false},
          {"s2vgd-onehot", true, true},
          {"s2vgd-dense", true, false}};
}

inference::MlpSpec mushroom_network() {
  return {.inputs = 117, .hidden = {50, 50}, .outputs = 2};
}

inference::NetworkPosteriorOptions posterior_options(bool structured) {
  inference::NetworkPosteriorOptions options;
  if (structured) options.parameterization = inference::WeightForm::matrix_gaussian;
  options.structure.reflectors = reflector_count;
  return options;
}

Minibatch::Minibatch(bool one_hot, std::int64_t rows) : one_hot_(one_hot), rows_(rows) {
  const std::int64_t inputs = mushroom_network().inputs;
  Draws draws({.seed = 1}, 0);
  dense_.assign(static_cast<std::size_t>(rows * inputs), 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t a = 0; a < mushroom_attributes; ++a) {
      const std::int64_t first = a * inputs / mushroom_attributes, end = (a + 1) * inputs / mushroom_attributes;
      ones_.push_back(static_cast<std::int32_t>(first + draws.integer(static_cast<std::uint32_t>(end - first))));
      dense_[i * inputs + ones_.back()] = 1;
    }
    arms_.push_back(static_cast<std::int32_t>(draws.integer(2)));
    rewards_.push_back(static_cast<float>(draws.normal()));
  }
}

inference::Batch<float> Minibatch::batch() const {
  inference::Batch<float> batch;
  if (one_hot_)
    batch.inputs.ones = {ones_.data(), rows_, mushroom_attributes};
  else
    batch.inputs.dense = {dense_.data(), rows_, mushroom_network().inputs};
  batch.targets = {rewards_.data(), rows_, 1};
  batch.outputs = arms_;
  batch.rows = rows_;
  batch.data_size = 4096;
  return batch;
}

policies::InteractionBatch Minibatch::interactions() const {
  policies::InteractionBatch batch{.actions = arms_, .rewards = rewards_, .rows = rows_, .window = 4096};
  if (one_hot_)
    batch.active = ones_;
  else
    batch.dense = dense_;
  return batch;
}

TensorPair measure_tensor_pair(const std::function<void()>& ours, const std::function<void()>& reference,
                               const PairSettings& settings) {
  inference::set_tensor_threads(1);
  const Pair one = measure_pair(ours, reference, settings);
  TensorPair best{.seconds = one, .threads = 1, .ratio_to_one_thread = one.reference / one.ours};
  if (std::thread::hardware_concurrency() > 1) {
    inference::set_tensor_threads(2);
    const Pair two = measure_pair(ours, reference, settings);
    inference::set_tensor_threads(1);
    if (two.reference < one.reference) best.seconds = two, best.threads = 2;
  }
  return best;
}

Row tensor_row(std::string name, const TensorPair& pair, std::string reference_is) {
  return {.name = std::move(name),
          .ours = pair.seconds.ours * 1e6,
          .reference = pair.seconds.reference * 1e6,
          .unit = "µs",
          .extra = {{"reference_is", std::move(reference_is)},
                    {"reference_threads", static_cast<double>(pair.threads)},
                    {"ratio_to_one_reference_thread", pair.ratio_to_one_thread}}};
}

double matrix_product_rate(int threads) {
  constexpr std::int64_t size = 1024;
  inference::set_tensor_threads(threads);
  const at::Tensor a = at::rand({size, size}), b = at::rand({size, size});
  at::Tensor c = at::mm(a, b);
  double best = 0;
  for (int i = 0; i < 9; ++i) {
    const auto start = std::chrono::steady_clock::now();
    at::mm_out(c, a, b);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2.0 * size * size * size / seconds);
  }
  inference::set_tensor_threads(1);
  return best;
}

}  // namespace stein::bench
