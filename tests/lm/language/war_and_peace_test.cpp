// A tenth of War and Peace: averages over samples of pSGLD against the weights where RMSprop ends.
#include <stein/core/data/manifest.h>
#include <stein/core/parallel.h>
#include <stein/core/read_file.h>
#include <stein/lm/language/language_experiment.h>
#include <stein/lm/language/language_run.h>
#include <stein/runs/run_kind.h>

#include <catch2/catch.hpp>

#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"
#include "training/method_with.h"

namespace stein::lm {
namespace {

using test::Settings;

constexpr std::int64_t seeds = 5;

/// Trains seeds 0 … 4 on `text` by a method, each on a core.
std::unique_ptr<runs::Run> trained(const std::filesystem::path& text, const std::string& sampler,
                                   const Settings& more) {
  Settings settings{{"data", text.string()},   {"tokens", "bytes"}, {"sampler", sampler},   {"seeds", "0:5"},
                    {"layers", "1"},           {"hidden", "32"},    {"batch_size", "10"},   {"unroll", "50"},
                    {"protocol", "stateful"},  {"epochs", "12"},    {"step_size", "0.03"},  {"square_decay", "0.99"},
                    {"rate_unit", "sequence"}, {"clip_norm", "5"},  {"stored_samples", "0"}};
  settings.insert(more.begin(), more.end());
  const LanguageExperiment experiment(runs::run_kinds().at("language"),
                                      {.settings = {settings.begin(), settings.end()}});
  auto run = experiment.make_run("");
  parallel_for(seeds, [&](std::int64_t i) {
    runs::Records records(false);
    while (!run->repetition(i).ended()) run->repetition(i).advance(1'000'000'000, {}, records);
  });
  return run;
}

// Seeds 100 to 119, of which the first three chose the setting: RMSprop ends at 2.012 nats a byte (sd 0.018), the
// averages are at 1.866 (0.011). The gain of a seed is 0.146, from 0.100 to 0.184, with an sd of 0.025. So the mean
// over five seeds has an sd of 0.011 about a mean that is known to 0.006: that it falls below 0.05 has a chance of 1e-7
// (Student's t with 19 degrees of freedom). Seeds 0 to 4 have 0.156 here (40 s of one core).
TEST_CASE("averages over samples of pSGLD predict War and Peace better than the weights where RMSprop ends",
          "[lm][war-and-peace][slow]") {
  const auto folder = find_data_set("chartext");
  if (!folder) test::skip("no data set chartext");
  const test::TemporaryDirectory own;
  // The first tenth of its 3,258,246 bytes, of which a tenth each is for validation and for the test.
  const auto text =
      test::write(own / "tenth.txt", read_text(data_file(*folder, "warpeace_input.txt")).substr(0, 325'825));
  const auto optimized = trained(text, "rmsprop", {}),
             sampled =
                 trained(text, "psgld", {{"temperature", "7.7e-6"}, {"burn_in", "0.5"}, {"samples_per_epoch", "4"}});
  double gain = 0;
  for (std::int64_t i = 0; i < seeds; ++i) {
    const TextLosses one = dynamic_cast<LanguageRun&>(*optimized).repetition(i).test_losses(),
                     many = dynamic_cast<LanguageRun&>(*sampled).repetition(i).test_losses();
    CAPTURE(i, one.final_weights, many.single, many.averaged);
    CHECK(many.samples == 24);
    CHECK(many.averaged <= many.single);
    gain += (one.final_weights - many.averaged) / seeds;
  }
  CHECK(gain > 0.05);  // nats a byte
}

}  // namespace
}  // namespace stein::lm
