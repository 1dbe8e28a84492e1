// Whether a classifier learns what questions ask for: TREC, several seeds, with words that start at random.
#include <stein/core/data/manifest.h>
#include <stein/core/parallel.h>
#include <stein/training/classifier_run.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "inference/gpu.h"
#include "lm/classification/classified_sentences.h"
#include "skip.h"

namespace stein::lm {
namespace {

// The setting was looked for with seeds from 100: 64 units a direction, words in lower case, samples from the third
// epoch on. Seeds 100 to 119 then err on 10.19 % of the test, from 9.2 to 11.2 %, with an sd of 0.44 %; one sample
// alone on 11.4 %. So the mean over five seeds has an sd of 0.20 % about a mean that is known to 0.10 %: that it is
// above 12 % has a chance of 5e-8 (Student's t with 19 degrees of freedom). Seeds 0 to 4 have 10.3 % here (51 s of one
// core).
void check_error(const std::string& device) {
  const SentenceExperiment experiment = test::sentence_experiment({{"data", "trec"},
                                                                   {"device", device},
                                                                   {"sampler", "psgld"},
                                                                   {"seeds", "0:5"},
                                                                   {"cleaning", "kim"},
                                                                   {"hidden", "64"},
                                                                   {"embedding", "100"},
                                                                   {"start_range", "0.1"},
                                                                   {"step_size", "0.002"},
                                                                   {"temperature", "4.1e-4"},
                                                                   {"clip_norm", "5"},
                                                                   {"rate_unit", "datum"},
                                                                   {"epochs", "8"},
                                                                   {"burn_in", "0.3"},
                                                                   {"samples_per_epoch", "4"},
                                                                   {"stored_samples", "0"}});
  const auto run = experiment.make_run("");
  parallel_for(run->count(), [&](std::int64_t i) {
    runs::Records records(false);
    while (!run->repetition(i).ended()) run->repetition(i).advance(1'000'000, {}, records);
  });
  const nlohmann::ordered_json test = run->summarize({})["test"];
  CAPTURE(test["error"].dump(), test["single_sample"]["error"].dump());
  CHECK(test["error"]["mean"].get<double>() <= 0.12);
  // log of an average ≥ average of logs.
  CHECK(test["log_likelihood"]["mean"].get<double>() >= test["single_sample"]["log_likelihood"]["mean"].get<double>());
}

TEST_CASE("a bidirectional LSTM errs on at most 12 % of the questions of TREC, averaged over its samples",
          "[lm][trec-learning][slow]") {
  if (!find_data_set("sentences")) test::skip("no data set sentences");
  check_error("cpu");
}

TEST_CASE("on a GPU a bidirectional LSTM errs on at most 12 % of the questions of TREC",
          "[lm][trec-learning][learning][gpu]") {
  static_cast<void>(test::gpu());
  if (!find_data_set("sentences")) test::skip("no data set sentences");
  check_error("cuda");
}

}  // namespace
}  // namespace stein::lm
