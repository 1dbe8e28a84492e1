#include <stein/runs/validation.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using runs::Better;
using runs::Validation;

namespace {

Snapshot state_of(double value) {
  Snapshot state;
  state.put("weights", value);
  return state;
}

}  // namespace

TEST_CASE("the best score keeps its state, in either direction, and a score that is not finite is never best",
          "[runs][validation]") {
  const auto [better, scores, best_step] =
      GENERATE(table<Better, std::vector<double>, std::int64_t>({{Better::lower, {3, 1, 2, NAN, 1}, 20},
                                                                 {Better::higher, {3, 1, 5, INFINITY, 5}, 30},
                                                                 {Better::lower, {NAN, 4}, 20}}));
  Validation validation({.validate_every = 10}, better);
  for (std::size_t i = 0; i < scores.size(); ++i)
    validation.add(10 * static_cast<std::int64_t>(i + 1), scores[i], state_of(scores[i]));
  REQUIRE(validation.best());
  CHECK(validation.best()->step == best_step);
  CHECK(validation.best_state().get_scalar<double>("weights") == validation.best()->score);
}

TEST_CASE("validation is due once in every interval, wherever steps land", "[runs][validation]") {
  Validation validation({.validate_every = 10}, Better::lower);
  std::vector<std::int64_t> due;
  for (const std::int64_t step : {3, 9, 10, 11, 19, 27, 29, 51})
    if (validation.due(step)) {
      due.push_back(step);
      validation.add(step, 1, {});
    }
  CHECK(due == std::vector<std::int64_t>{10, 27, 51});
  CHECK_FALSE(validation.due(59));  // that of 50 was made up for at 51
  CHECK(validation.due(60));
  CHECK_FALSE(Validation({}, Better::lower).due(1000));
  CHECK(validation.next_due(51) == 60);
  CHECK(validation.next_due(59) == 60);
  CHECK(validation.next_due(60) == 70);
}

TEST_CASE("patience counts validations since the best one", "[runs][validation]") {
  Validation validation({.validate_every = 1, .patience = 2}, Better::lower);
  std::vector<bool> stops;
  for (const double score : {5.0, 4.0, 4.5, 3.0, 3.0, 3.5}) {
    validation.add(std::ssize(stops) + 1, score, {});
    stops.push_back(validation.stops_early());
  }
  CHECK(stops == std::vector<bool>{false, false, false, false, false, true});
}

TEST_CASE("a restored validation goes on as the saved one", "[runs][validation]") {
  Validation saved({.validate_every = 5, .patience = 3}, Better::higher),
      restored({.validate_every = 5, .patience = 3}, Better::higher);
  saved.add(5, 1, state_of(1));
  saved.add(10, 0.5, state_of(0.5));
  Snapshot snapshot;
  saved.save(snapshot);
  restored.add(5, 9, state_of(9));  // forgotten
  restored.restore(snapshot);
  CHECK(restored.best()->step == 5);
  CHECK(restored.best_state().get_scalar<double>("weights") == 1);
  CHECK_FALSE(restored.due(14));
  CHECK(restored.due(15));
  for (Validation* validation : {&saved, &restored}) {
    validation->add(15, 0, {});
    CHECK_FALSE(validation->stops_early());
    validation->add(20, 0, {});
    CHECK(validation->stops_early());
  }
  CHECK_ERROR(Validation({}, Better::lower).best_state(), usage, "no best state");
  CHECK_ERROR(Validation({.patience = -1}, Better::lower), usage, "patience");
  CHECK_ERROR(Validation({.patience = 2}, Better::lower), usage, "patience = 2", "validate_every");
}
