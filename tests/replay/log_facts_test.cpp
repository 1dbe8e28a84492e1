#include <stein/replay/log_facts.h>

#include <catch2/catch.hpp>
#include <vector>

using namespace stein;
using namespace stein::replay;

namespace {

LoggedEvent event(std::vector<std::int32_t> present, std::int64_t action, double reward, double propensity) {
  return {.present = std::move(present), .action = action, .reward = reward, .propensity = propensity};
}

}  // namespace

TEST_CASE("a log says when arms were there and what they paid", "[replay][facts]") {
  LogFacts facts;
  facts.add(event({4, 1}, 4, 1, 0.5));
  facts.add(event({1, 2}, 2, 0, 0.5));
  facts.add(event({4, 2}, 2, 1, 0.5));
  CHECK(facts.events() == 3);
  CHECK(facts.reward() == 2);
  REQUIRE(facts.arms().size() == 5);
  CHECK(facts.arms()[0].first == -1);
  CHECK(facts.arms()[4].first == 0);
  CHECK(facts.arms()[4].last == 2);
  CHECK(facts.arms()[1].last == 1);
  CHECK(facts.arms()[2].first == 1);
  CHECK(facts.arms()[2].pulls == 2);
  CHECK(facts.arms()[2].reward == 1);
  CHECK(facts.arms()[4].pulls == 1);
}

TEST_CASE("arms drawn uniformly are valued by weights, and a log knows whether it drew so", "[replay][facts]") {
  LogFacts uniform;
  uniform.add(event({0, 1}, 0, 1, 0.5));
  uniform.add(event({0, 1, 2}, 1, 0, 0.333333));
  CHECK(uniform.uniform());
  CHECK(uniform.uniform_value().value == Approx(0.5).epsilon(1e-5));
  LogFacts skewed;
  skewed.add(event({0, 1}, 0, 1, 0.8));  // weights 0.625 and 2.5
  skewed.add(event({0, 1}, 1, 0, 0.2));
  CHECK_FALSE(skewed.uniform());
  CHECK(skewed.uniform_value().value == Approx(0.625 / 3.125));
  LogFacts weighted;
  LoggedEvent one = event({0, 1}, 0, 1, 0.5), other = event({0, 1}, 1, 0, 0.5);
  other.weight = 3;
  weighted.add(one), weighted.add(other);
  CHECK(weighted.uniform_value().value == Approx(0.25));
  CHECK(weighted.uniform());
  CHECK(weighted.uniform_weights().mean() == Approx(1));
  CHECK(weighted.certain() == 0);
  weighted.add(event({1}, 1, 0, 1));  // a single arm leaves no choice
  CHECK(weighted.certain() == 0);
  weighted.add(event({0, 1}, 1, 0, 1));
  CHECK(weighted.certain() == 1);
  CHECK(skewed.uniform_value().effective_sample_size == Approx(3.125 * 3.125 / (0.625 * 0.625 + 2.5 * 2.5)));
}

TEST_CASE("propensities fall into bins of a quarter of a power of ten, their ends included", "[replay][facts]") {
  LogFacts facts;
  for (const double propensity : {1.0, 0.6, 0.5, 0.1, 1e-6, 1e-9}) facts.add(event({0}, 0, 0, propensity));
  CHECK(LogFacts::bin_end(LogFacts::bins - 1) == Approx(1));
  CHECK(LogFacts::bin_end(LogFacts::bins - 5) == Approx(0.1));
  const auto& counts = facts.propensities();
  CHECK(counts[LogFacts::bins - 1] == 2);  // above 10^(−1/4) = 0.562
  CHECK(counts[LogFacts::bins - 2] == 1);
  CHECK(counts[LogFacts::bins - 5] == 1);
  CHECK(counts[0] == 2);
}

TEST_CASE("the facts of a log go on from where they were saved", "[replay][facts]") {
  LogFacts facts, restored;
  facts.add(event({3, 1}, 3, 1, 0.25));
  Snapshot saved;
  facts.save(saved);
  restored.restore(saved);
  for (LogFacts* each : {&facts, &restored}) each->add(event({0, 1}, 1, 0.5, 0.01));
  CHECK(restored.events() == 2);
  CHECK(restored.reward() == 1.5);
  CHECK_FALSE(restored.uniform());
  CHECK(restored.propensities() == facts.propensities());
  CHECK(restored.uniform_value().value == facts.uniform_value().value);
  CHECK(restored.arms().size() == 4);
  CHECK(restored.arms()[3].reward == 1);
  CHECK(restored.arms()[1].last == 1);
}
