// The numbers of a run that a table shows.
#include <stein/inference/diagnostics/chain_diagnostics.h>
#include <stein/inference/diagnostics/chain_summary.h>

#include <catch2/catch.hpp>

using namespace stein::inference;

TEST_CASE("every coordinate is summed up over chains and draws under its name", "[inference][diagnostics]") {
  Layout layout;
  layout.add("mu", {1}, Role::bias), layout.add("theta", {2}, Role::bias);
  CollectedSamples<float> samples(layout, 2);
  Particles<float> particles(layout, 2);
  for (int t = 0; t < 8; ++t) {
    for (std::int64_t i = 0; i < 2; ++i) {
      const auto row = particles.values().row(i);
      row[0] = static_cast<float>((5 * t) % 8 + 8 * i), row[1] = static_cast<float>((3 * t) % 8), row[2] = -row[1];
    }
    samples.add(particles);
  }
  const auto found = summarise(samples);
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "mu");
  CHECK(found[2].name == "theta[1]");
  CHECK(found[0].mean == Approx(7.5));                             // of 0 … 15
  CHECK(found[0].deviation == Approx(std::sqrt(16.0 * 17 / 12)));  // n(n + 1)/12 with 1/(n − 1)
  CHECK(found[2].mean == Approx(-3.5));
  const std::vector<double> draws = samples.draws(1);
  CHECK(found[1].effective_samples == bulk_effective_sample_size({draws.data(), 2, 8}));
  CHECK(found[1].r_hat == split_r_hat({draws.data(), 2, 8}));
  CHECK(found[0].r_hat > 1.5);  // the chains lie apart
  CHECK_THAT(to_text({{.name = "mu", .mean = 7.5, .deviation = 4.761, .effective_samples = 16.4, .r_hat = 1.0}}),
             Catch::Contains("ESS") && Catch::Contains("mu               7.500     4.761        16   1.000"));
}
