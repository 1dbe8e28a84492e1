#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <utility>

#include "cli/program.h"
#include "core/environment_variable.h"

using namespace stein::test;
using Catch::Contains;

namespace {

/// A sanitizer's own memory is not ours.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// The program's end, with the names of all files that the loader opened on standard error.
Outcome run_traced(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  const EnvironmentVariable trace("LD_DEBUG", "files");
  return run(folder, std::move(arguments));
}

std::vector<std::string> short_training(const std::string& arithmetic) {
  return {"bandit",    "--env",    "mushroom-synthetic", "--policy",      "s2vgd",    "--quiet",
          "--set",     "steps=50", "updates=1",          "learn_every=5", "batch=16", "arithmetic=" + arithmetic,
          "--threads", "1"};
}

}  // namespace

TEST_CASE("memory stays flat once the window is full", "[cli][bandit][slow]") {
  const TemporaryDirectory folder;
  const auto peak_megabytes = [&](const std::string& steps) {
    const Outcome outcome = run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "svgd", "--set",
                                                "steps=" + steps, "updates=1", "learn_every=20", "buffer=4096",
                                                "--log-decisions", "--out", steps, "--json", "--quiet"});
    REQUIRE(outcome.code == 0);
    return outcome.json()["peak_memory_mb"].get<double>();
  };
  // 44,000 more interactions of 22 numbers each would take 4 MB if they were kept, their log lines another 7 MB.
  const double more = peak_megabytes("50000") - peak_megabytes("6000");
  if (!sanitized) CHECK(more < 3);
}

TEST_CASE("the seeds of a run have one table of its bandit in memory", "[cli][bandit][memory]") {
  const TemporaryDirectory folder;
  const auto peak_megabytes = [&](const std::string& seeds) {
    const Outcome outcome = run(
        folder.path(), {"bandit", "--env", "classification-synthetic", "--policy", "uniform", "--seeds", seeds, "--set",
                        "rows=200000", "columns=20", "steps=10", "--out", seeds.substr(2), "--json", "--quiet"});
    REQUIRE(outcome.code == 0);
    return outcome.json()["peak_memory_mb"].get<double>();
  };
  // A table of 4 million numbers is 16 MB.
  const double more = peak_megabytes("0:11") - peak_megabytes("0:1");
  if (!sanitized) CHECK(more < 16);
}

TEST_CASE("the memory of a replay does not depend on the length of its log", "[cli][replay][memory][slow]") {
  const TemporaryDirectory folder;
  const auto peak_megabytes = [&](const std::string& events) {
    REQUIRE(run(folder.path(), {"data", "make", "news-synthetic", "--events", events, "--lifetime", "1000000", "--out",
                                events + ".gz", "--quiet"})
                .code == 0);
    const Outcome outcome =
        run(folder.path(), {"replay", "--log", events + ".gz", "--policy", "linucb,uniform", "--estimators", "snips",
                            "--set", "arms=100", "--out", events, "--json", "--quiet"});
    REQUIRE(outcome.code == 0);
    return outcome.json()["peak_memory_mb"].get<double>();
  };
  // 180,000 more events of 126 features each would take 90 MB if they were kept.
  const double more = peak_megabytes("200000") - peak_megabytes("20000");
  if (!sanitized) CHECK(more < 4);
}

/// Programs that are started give large arrays back to the system when they free them: what glibc's heap keeps between
/// them differs from processor to processor by more than a set of weights.
class NoHeapForArrays {
 public:
  NoHeapForArrays() { ::setenv(name, "1000000", 1); }
  ~NoHeapForArrays() { ::unsetenv(name); }
  NoHeapForArrays(const NoHeapForArrays&) = delete;
  NoHeapForArrays& operator=(const NoHeapForArrays&) = delete;

 private:
  static constexpr const char* name = "MALLOC_MMAP_THRESHOLD_";
};

TEST_CASE("a run of Bayes by Backprop takes at most 17.3 times its weights, 13.3 without the best by validation",
          "[cli][lm][memory][slow]") {
  // Two each of φ, ∇φ, two generations to go back to and the state that is written; one each of θ, ∇θ and a mean for
  // scores; copies in the order of products. The best state has two, and the last one is kept beside it while that is
  // scored.
  const NoHeapForArrays arrays;
  const TemporaryDirectory folder;
  std::ofstream text(folder / "words.txt");
  for (int i = 0; i < 12'000; ++i) text << 'w' << i % 4'000 << (i % 20 == 19 ? '\n' : ' ');
  text.close();
  const auto run_of = [&](const std::string& hidden, const std::string& validations) {
    const std::string name = hidden + "-" + validations;
    const Outcome outcome = run(folder.path(), {"lm",
                                                "train",
                                                "--data",
                                                "./words.txt",
                                                "--tokens",
                                                "words",
                                                "--sampler",
                                                "bbb",
                                                "--hidden",
                                                hidden,
                                                "--layers",
                                                "2",
                                                "--epochs",
                                                "1",
                                                "--unroll",
                                                "5",
                                                "--out",
                                                name,
                                                "--json",
                                                "--quiet",
                                                "--batch-size",
                                                "5",
                                                "--set",
                                                "min_count=1",
                                                "optimizer=sgd",
                                                "momentum=0",
                                                "report_tokens=0",
                                                "validations_per_epoch=" + validations});
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json();
  };
  const auto small = run_of("16", "1");
  for (const auto& [validations, most] : {std::pair("1", 17.3), {"0", 13.3}}) {
    const auto large = run_of("512", validations);
    const auto more = [&](const char* key) { return large[key].get<double>() - small[key].get<double>(); };
    const double multiple = more("peak_memory_mb") / (4e-6 * more("parameters"));
    CAPTURE(validations, multiple);
    if (!sanitized) CHECK(multiple < most);
  }
}

TEST_CASE("what there is to run is listed without LibTorch, in 50 MB", "[cli][memory]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run_traced(folder.path(), {"list"});
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, Contains("libstein_inference") && !Contains("libtorch_cpu"));
  if (!sanitized) CHECK(outcome.peak_megabytes < 50);
}

TEST_CASE("structured Stein Thompson sampling learns without LibTorch, in 100 MB", "[cli][bandit][memory]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run_traced(folder.path(), short_training("fused"));
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, Contains("libstein_inference") && !Contains("libtorch_cpu"));
  if (!sanitized) CHECK(outcome.peak_megabytes < 100);
}

TEST_CASE("LibTorch is loaded where its arithmetic is asked for", "[cli][bandit][memory][torch]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run_traced(folder.path(), short_training("reference"));
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.err, Contains("libstein_torch") && Contains("libtorch_cpu"));
}
