// Weights of one training as the start of another, and how many of them a sparse prior leaves.
#include <stein/inference/models/particle_mlp.h>
#include <stein/training/network_sparsity.h>
#include <stein/training/starting_weights.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error_matcher.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

NetworkWeights network_of(const std::string& method, const test::Settings& settings = {}, std::uint64_t seed = 0,
                          std::vector<std::int64_t> hidden = {5}) {
  const inference::MlpSpec spec{
      .inputs = 3, .hidden = std::move(hidden), .outputs = 2, .likelihood = inference::Likelihood::categorical};
  return {test::method_with(method, settings), std::make_unique<inference::ParticleMlp>(spec), {.size = 8}, seed};
}

/// Weights of the first particle as they are, without the room between rows.
std::vector<float> numbers(NetworkWeights& weights) {
  const inference::Matrix<float> row = weights.host_weights_now();
  std::vector<float> all;
  for (const inference::LayoutEntry& entry : weights.posterior().model().layout().entries())
    for (std::int64_t r = 0; r < entry.rows(); ++r)
      for (std::int64_t c = 0; c < entry.columns(); ++c)
        all.push_back(row.row(0)[static_cast<std::size_t>(entry.offset + r * entry.row_stride + c)]);
  return all;
}

TEST_CASE("a network begins with the weights that are given, and a Gaussian with them as means",
          "[training][starting]") {
  NetworkWeights from = network_of("svgd", {}, /*seed=*/1);
  const StartingWeights start = starting_weights(from);
  for (const char* const method : {"adam", "sghmc-sa", "bbb"}) {
    CAPTURE(method);
    NetworkWeights to = network_of(method, {}, /*seed=*/2);
    REQUIRE(numbers(to) != numbers(from));
    const std::vector<float> before{to.particles().values().row(0).begin(), to.particles().values().row(0).end()};
    begin_with(start, to);
    CHECK(numbers(to) == numbers(from));
    const auto first = to.particles().values().row(0);
    for (const inference::LayoutEntry& entry : to.particles().layout().entries())  // deviations stay
      if (!entry.is_weight())
        for (std::int64_t i = entry.offset; i < entry.offset + entry.extent(); ++i)
          CHECK(first[static_cast<std::size_t>(i)] == before[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("a regression begins with the precision of the noise that is given", "[training][starting]") {
  const auto line = [](const char* method, std::uint64_t seed) {
    const inference::MlpSpec spec{.inputs = 3, .hidden = {5}, .outputs = 1, .learn_noise_precision = true};
    return std::make_unique<NetworkWeights>(test::method_with(method, {}),
                                            std::make_unique<inference::ParticleMlp>(spec), DataFacts{.size = 8}, seed);
  };
  const auto from = line("svgd", 1);
  const auto noise = [](NetworkWeights& weights) -> float& {
    return weights.particles().values()(0, weights.particles().layout().at("log_noise_precision").offset);
  };
  noise(*from) = 3;
  for (const char* const method : {"adam", "bbb"}) {
    CAPTURE(method);
    const auto to = line(method, 2);
    begin_with(starting_weights(*from), *to);
    CHECK(noise(*to) == 3);
  }
}

TEST_CASE("numbers of a row are counted with its padding, parameters without", "[training][starting]") {
  CHECK(network_of("adam").parameter_count() == 3 * 5 + 5 + 5 * 2 + 2);
  CHECK(network_of("bbb").parameter_count() == 3 * 5 + 5 + 5 * 2 + 2);
  CHECK(network_of("s2vgd").parameter_count() == 3 * 5 + 5 + 5 * 2 + 2);
}

TEST_CASE("a structured ensemble gives its products as a start, and takes none", "[training][starting]") {
  NetworkWeights from = network_of("s2vgd", {}, /*seed=*/1), to = network_of("adam", {}, /*seed=*/2);
  begin_with(starting_weights(from), to);
  CHECK(numbers(to) == numbers(from));
  CHECK_ERROR(begin_with(starting_weights(to), from), usage, "structured matrices");
}

TEST_CASE("weights whose words or classes have other names are refused", "[training][starting]") {
  const auto meaning = [](const char* name, const char* names) {
    Snapshot snapshot;
    snapshot.put_text(name, names);
    return snapshot;
  };
  NetworkWeights network = network_of("adam");
  const auto start = [&](const Snapshot& of) {
    StartingWeights weights = starting_weights(network);
    weights.meaning = of;
    return weights;
  };
  const Snapshot words = meaning("vocabulary/text", "a b"), classes = meaning("classes", "good bad");
  CHECK_NOTHROW(begin_with(start(words), network, meaning("vocabulary/text", "a b")));
  CHECK_NOTHROW(begin_with(start({}), network, words));
  CHECK_NOTHROW(begin_with(start(meaning("target", "price")), network, meaning("target", "rent")));
  CHECK_ERROR(begin_with(start(words), network, meaning("vocabulary/text", "b a")), usage, "another vocabulary");
  CHECK_ERROR(begin_with(start(classes), network, meaning("classes", "bad good")), usage, "other classes");
}

TEST_CASE("weights of another network are refused by the name of what differs", "[training][starting]") {
  NetworkWeights deep = network_of("adam", {}, 0, {5, 4}), wide = network_of("adam", {}, 0, {6}),
                 plain = network_of("adam");
  CHECK_ERROR(begin_with(starting_weights(deep), plain), usage, "layer1.weight is [5, 4], expected [5, 2]");
  CHECK_ERROR(begin_with(starting_weights(plain), deep), usage, "layer1.weight is [5, 2], expected [5, 4]");
  CHECK_ERROR(begin_with(starting_weights(wide), plain), usage, "layer0.weight is [3, 6], expected [3, 5]");
}

TEST_CASE("probabilities of the slab are those of the layer that they stand beside, whatever the order of the names",
          "[training][sparsity]") {
  NetworkWeights weights = network_of("sghmc-sa", {{"sparse_layers", "layer1.weight,layer0.weight"}});
  Snapshot as_it_was, changed;
  weights.posterior().save(as_it_was);
  for (const auto& [name, array] : as_it_was.arrays())
    if (name.ends_with("/rho")) {
      std::vector<double> rho(25, 0.12);  // of layer1, 5 x 2, then of layer0, 3 x 5
      rho[3] = 1, std::fill(rho.begin() + 10, rho.end(), 0.97);
      changed.put(name, std::span<const double>(rho), {1, 25});
    } else if (name.ends_with("/slab_share")) {
      changed.put(name, std::span<const double>(std::vector<double>{0.2, 0.9}), {1, 2});
    } else {
      changed.put_array(name, array);
    }
  weights.posterior().restore(changed);
  const NetworkSparsity found = sparsity_of(weights);
  REQUIRE(found.layers.size() == 2);
  CHECK(found.layers[0].name == "layer0.weight");
  CHECK(found.layers[0].slab_share == 0.9);
  CHECK(found.layers[0].slab_probabilities[19] == Approx(1));
  CHECK(found.layers[1].slab_share == 0.2);
  CHECK(found.layers[1].slab_probabilities[2] == Approx(0.9));
  CHECK(found.layers[1].slab_probabilities[19] == Approx(0.1));
}

TEST_CASE("zeros are counted in the layers that are made sparse, operations and bytes by hand",
          "[training][sparsity]") {
  NetworkWeights weights = network_of("sghmc-sa", {{"sparse_layers", "layer0.weight"}});
  const inference::LayoutEntry& layer = weights.particles().layout().at("layer0.weight");
  const auto values = weights.particles().values().row(0);
  std::fill_n(values.begin() + layer.offset, layer.size(), 1.0F);
  for (const std::int64_t zero : {0, 1, 4, 7, 9, 12, 13, 14}) values[static_cast<std::size_t>(layer.offset + zero)] = 0;
  const NetworkSparsity found = sparsity_of(weights);
  REQUIRE(found.layers.size() == 1);  // 3 x 5 weights, and a matrix of 5 x 2 that is not sparse
  CHECK(found.layers[0].name == "layer0.weight");
  CHECK(found.layers[0].left == 7);
  CHECK(found.sparsity() == Approx(8.0 / 15));
  CHECK(found.parameters == 15 + 5 + 10 + 2);
  CHECK(found.parameters_left == 7 + 5 + 10 + 2);
  CHECK(found.operations() == 25);
  CHECK(found.operations_left() == 17);
  CHECK(found.bytes() == 4 * 32);
  CHECK(found.bytes_left() == 4 * 32);  // 7 floats and columns and 4 beginnings of rows, 72 bytes, are more than 60
  CHECK(LayerSparsity{.rows = 3, .weights = 15, .left = 2}.bytes_left() == 2 * 8 + 4 * 4);
  CHECK(found.sigma == Approx(1));
  CHECK(found.layers[0].slab_share == Approx(0.5));
  CHECK(found.layers[0].slab_probabilities[10] == Approx(1));  // ρ begins at δ
  NetworkWeights dense = network_of("sghmc");
  CHECK_ERROR(sparsity_of(dense), usage, "does not make weights sparse");
}

}  // namespace
}  // namespace stein::training
