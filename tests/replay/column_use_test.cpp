#include <stein/replay/column_use.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::replay;

TEST_CASE("a column that two features came to is crowded, whatever comes later", "[replay][hash]") {
  ColumnUse use(4);
  CHECK(use.used() == 0);
  CHECK(crowd_warning(use, "categories", "buckets").empty());
  for (int i = 0; i < 3; ++i) use.note(2, 77);
  use.note(0, 0);  // a hash like any other
  use.note(0, 0);
  CHECK(use.used() == 2);
  CHECK(use.crowded() == 0);
  use.note(2, 78);
  use.note(2, 77);
  CHECK(use.crowded() == 1);
  CHECK(crowd_warning(use, "categories", "buckets") ==
        "1 of the 2 columns that categories were hashed into hold several, which no policy can tell apart: raise "
        "`buckets`");
  Snapshot saved;
  use.save(saved);
  ColumnUse restored(4), other(5);
  restored.restore(saved);
  CHECK(restored.crowded() == 1);
  restored.note(0, 9);
  CHECK(restored.crowded() == 2);
  CHECK_ERROR(other.restore(saved), data, "is of 4, expected 5");
}
