// `stein compress` and `stein export` as a person uses them.
#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein;
using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A perceptron that reads made-up digits well enough.
void train_dense(const TemporaryDirectory& folder) {
  const Outcome trained = run(folder.path(), {"classify",
                                              "--data",
                                              "digits-synthetic",
                                              "--sampler",
                                              "adam",
                                              "--out",
                                              "dense",
                                              "--quiet",
                                              "--hidden",
                                              "20",
                                              "--epochs",
                                              "6",
                                              "--seeds",
                                              "0:2",
                                              "--set",
                                              "train_images=600",
                                              "--set",
                                              "validation_images=100",
                                              "--batch-size",
                                              "20"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
}

std::vector<std::string> compress(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"compress", "dense", "--target", "0.7", "--out", out, "--quiet", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Json summary_of(const TemporaryDirectory& folder, const std::string& name) {
  return Json::parse(content_of(folder / (name + "/summary.json")));
}

std::int64_t zeros(const std::vector<float>& numbers) {
  return std::ranges::count(numbers, 0.0F);
}

}  // namespace

TEST_CASE("a trained classifier is made as sparse as was asked for, from its own weights", "[cli][compress]") {
  const TemporaryDirectory folder;
  train_dense(folder);
  const Outcome compressed = run(folder.path(), compress("sparse"));
  CAPTURE(compressed.err);
  REQUIRE(compressed.code == 0);
  const Json summary = compressed.json(), dense = summary_of(folder, "dense");
  CHECK(summary["sampler"] == "sghmc-sa");
  CHECK(summary["temperature"] == 0.001);
  CHECK(summary["model"] == dense["model"]);
  CHECK(summary["test"]["error"]["per_seed"].size() == 2);
  CHECK(summary["error_before"].get<double>() ==
        Approx(dense["test"]["final_weights"]["error"]["mean"].get<double>()).epsilon(1e-9));
  CHECK(summary["error_after"] == summary["test"]["error"]["mean"]);
  // ⌊.7 p⌋ weights of both matrices together, one less where p is a multiple of 10.
  const auto weights = 784 * 20 + 20 * 10;
  CHECK(summary["sparsity"].get<double>() == Approx(0.7).margin(1.5 / weights));
  CHECK(summary["parameters_left"].get<double>() ==
        Approx((1 - summary["sparsity"].get<double>()) * weights + 30).epsilon(1e-9));
  REQUIRE(summary["layers"].size() == 2);
  for (const Json& layer : summary["layers"]) {
    CHECK(layer["slab_probabilities"].size() == 20);
    CHECK(layer["slab_share"].get<double>() > 0);
  }
  CHECK(summary["operations"] == weights);
  CHECK(summary["bytes_left"] < summary["bytes"]);

  const Outcome written = run(folder.path(), {"export", "sparse", "--to", "sparse.safetensors", "--json"});
  CAPTURE(written.err);
  REQUIRE(written.code == 0);
  const Snapshot file = read_safetensors(folder / "sparse.safetensors");
  const auto first = file.get_vector<float>("layer0.weight"), second = file.get_vector<float>("layer1.weight");
  CHECK(file.arrays().at("layer0.weight").shape == std::vector<std::int64_t>{784, 20});
  CHECK(file.get_vector<float>("layer0.bias").size() == 20);
  CHECK(zeros(first) + zeros(second) ==
        summary["layers"][0]["weights"].get<std::int64_t>() - summary["layers"][0]["left"].get<std::int64_t>() +
            summary["layers"][1]["weights"].get<std::int64_t>() - summary["layers"][1]["left"].get<std::int64_t>());

  REQUIRE(run(folder.path(), {"export", "sparse", "--to", "rows.safetensors", "--format", "csr"}).code == 0);
  const Snapshot rows = read_safetensors(folder / "rows.safetensors");
  const auto begins = rows.get_vector<std::int32_t>("layer0.weight.crow_indices"),
             columns = rows.get_vector<std::int32_t>("layer0.weight.col_indices");
  const auto values = rows.get_vector<float>("layer0.weight.values");
  CHECK(rows.get_vector<std::int64_t>("layer0.weight.shape") == std::vector<std::int64_t>{784, 20});
  REQUIRE(begins.size() == 785);
  std::vector<float> filled(784 * 20);
  for (std::size_t r = 0; r < 784; ++r)
    for (std::int32_t k = begins[r]; k < begins[r + 1]; ++k)
      filled[r * 20 + static_cast<std::size_t>(columns.at(static_cast<std::size_t>(k)))] =
          values.at(static_cast<std::size_t>(k));
  CHECK(filled == first);

  // Where they are better on the rows for validation, the best weights are others than those of the end.
  REQUIRE(run(folder.path(), {"export", "dense", "--to", "end.safetensors"}).code == 0);
  REQUIRE(run(folder.path(), {"export", "dense", "--to", "best.safetensors", "--by", "best"}).code == 0);
  const bool same_weights = read_safetensors(folder / "end.safetensors").get_vector<float>("layer0.weight") ==
                            read_safetensors(folder / "best.safetensors").get_vector<float>("layer0.weight");
  const double at_end = dense["validation"]["final_weights"]["error"]["per_seed"][0],
               at_best = dense["validation"]["validation_chosen"]["error"]["per_seed"][0];
  CAPTURE(at_end, at_best);
  if (at_best < at_end) CHECK_FALSE(same_weights);

  const Outcome report = run(folder.path(), {"report", "dense", "sparse", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(content_of(folder / "page.html"), Contains("\"slab_probabilities\":["));
}

TEST_CASE("a compression that was stopped goes on to the same numbers, without the run that it began with",
          "[cli][compress][resume]") {
  const TemporaryDirectory folder;
  train_dense(folder);
  REQUIRE(run(folder.path(), compress("whole")).code == 0);
  REQUIRE(run(folder.path(), compress("parts", {"--stop-after", "900"})).code == 75);
  std::filesystem::remove_all(folder / "dense");
  const Outcome resumed = run(folder.path(), {"resume", "parts", "--quiet", "--json"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  const Json whole = summary_of(folder, "whole"), parts = resumed.json();
  for (const char* const key : {"test", "validation", "error_before", "error_after", "sparsity", "layers"})
    CHECK(parts[key] == whole[key]);
  CHECK(content_of(folder / "parts/metrics.jsonl") == content_of(folder / "whole/metrics.jsonl"));
}

TEST_CASE("what cannot be compressed, begun with or exported is refused by a sentence", "[cli][compress][bad-input]") {
  const TemporaryDirectory folder;
  train_dense(folder);
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const char* sentence) {
    const Outcome outcome = run(folder.path(), arguments);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(sentence));
  };
  for (const char* const target : {"0", "1", "-0.2", "1.5"})
    refused({"compress", "dense", "--target", target}, 2, "between 0 and 1");
  refused(compress("twice", {"--set", "pruning.final_share=0.3"}), 2, "leave --set pruning.final_share out");
  refused({"compress", "nowhere", "--target", "0.5"}, 3, "nowhere");
  refused({"compress", "dense", "--target", "0.5", "--out", "dense", "--overwrite"}, 2, "holds the run whose weights");
  CHECK(std::filesystem::exists(folder / "dense/summary.json"));
  refused({"classify", "--data", "digits-synthetic", "--sampler", "svgd", "--set", "from_run=dense", "--out", "x"}, 2,
          "particles that begin alike never part");
  refused({"classify", "--data", "digits-synthetic", "--sampler", "hmc", "--set", "rotation=10", "--out", "x"}, 2,
          "the same images in every step");
  refused(compress("other", {"--set", "hidden=30"}), 2, "layer0.weight is [784, 20], expected [784, 30]");
  CHECK_FALSE(std::filesystem::exists(folder / "other"));
  refused(compress("seeds", {"--set", "seeds=0:3"}), 2, "the run has seeds 0:2, got 2");
  refused({"classify", "--data", "digits-synthetic", "--sampler", "adam", "--set", "from_run=nowhere", "--out", "x"}, 3,
          "nowhere");
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
  refused({"export", "dense", "--to", "x.bin"}, 2, "ends in .safetensors");
  refused({"export", "dense", "--to", "dense/checkpoints/x.safetensors"}, 2, "is a run's own");
  refused({"export", "dense", "--to", "x.safetensors", "--format", "csr"}, 2, "made sparse");
  refused({"export", "dense", "--to", "x.safetensors", "--seed", "7"}, 2, "the run has seeds 0:2, got 7");
  refused({"export", "dense", "--to", "none/x.safetensors"}, 1, "none");
  REQUIRE(run(folder.path(),
              {"bandit", "--env", "linear", "--policy", "uniform", "--set", "steps=10", "--out", "bandit", "--quiet"})
              .code == 0);
  refused({"compress", "bandit", "--target", "0.5"}, 3, "`stein compress` is for runs of `stein classify`");
}
