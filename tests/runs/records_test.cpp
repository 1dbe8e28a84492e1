#include <stein/runs/records.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using runs::Records;

namespace {

Snapshot saved() {
  Records records(true);
  records.number(3, "return", 1.5);
  records.number(3, "a tag", NAN);
  records.number(7, "return", -2);
  records.line(4, "{\"action\": 1}");
  records.line(9, "");
  Snapshot state;
  records.save(state);
  return state;
}

}  // namespace

TEST_CASE("records that wait are saved and restored, also empty lines", "[runs][records]") {
  Records restored(true);
  restored.number(99, "forgotten", 0);
  restored.line(99, "forgotten");
  restored.restore(saved());
  REQUIRE(restored.numbers().size() == 3);
  CHECK(restored.numbers()[0].step == 3);
  CHECK(restored.numbers()[0].tag == "return");
  CHECK(restored.numbers()[0].value == 1.5);
  CHECK(restored.numbers()[1].tag == "a tag");
  CHECK(std::isnan(restored.numbers()[1].value));
  CHECK(restored.numbers()[2].step == 7);
  REQUIRE(restored.lines().size() == 2);
  CHECK(restored.lines()[0].step == 4);
  CHECK(restored.lines()[0].text == "{\"action\": 1}");
  CHECK(restored.lines()[1].text.empty());
}

TEST_CASE("nothing waits where a state holds no records", "[runs][records]") {
  Records records(true);
  records.number(1, "forgotten", 0);
  records.line(1, "forgotten");
  records.restore(Snapshot());
  CHECK(records.numbers().empty());
  CHECK(records.lines().empty());
}

TEST_CASE("records whose parts do not fit are a data error", "[runs][records]") {
  const auto restore_with = [](const auto& change) {
    const Snapshot whole = saved();
    Snapshot state;
    state.put("unrecorded_steps", whole.get_vector<std::int64_t>("unrecorded_steps"));
    state.put("unrecorded_line_steps", whole.get_vector<std::int64_t>("unrecorded_line_steps"));
    change(state);
    const auto fill = [&](const char* name) {
      if (!state.contains(name)) state.put_text(name, whole.get_text(name));
    };
    if (!state.contains("unrecorded_values"))
      state.put("unrecorded_values", whole.get_vector<double>("unrecorded_values"));
    fill("unrecorded_tags"), fill("unrecorded_lines");
    Records(true).restore(state);
  };
  CHECK_NOTHROW(restore_with([](Snapshot&) {}));
  const auto numbers = [](std::vector<double> values) {
    return [values](Snapshot& state) { state.put("unrecorded_values", values); };
  };
  const auto text = [](const char* name, const char* lines) {
    return [=](Snapshot& state) { state.put_text(name, lines); };
  };
  CHECK_ERROR(restore_with(numbers({1, 2})), data, "2 metrics", "steps of 3");
  CHECK_ERROR(restore_with(numbers({1, 2, 3, 4})), data, "4 metrics", "steps of 3");
  CHECK_ERROR(restore_with(text("unrecorded_tags", "a\nb\n")), data, "2 metrics", "steps of 3");
  CHECK_ERROR(restore_with(text("unrecorded_lines", "a\n")), data, "1 lines", "steps of 2");
  CHECK_ERROR(restore_with(text("unrecorded_lines", "a\nb\nc\n")), data, "3 lines", "steps of 2");
}
