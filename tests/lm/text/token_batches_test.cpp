#include <stein/lm/text/token_batches.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

/// Tokens first, first + 1, …
std::vector<std::int32_t> count_from(std::int32_t first, std::size_t count) {
  std::vector<std::int32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

TEST_CASE("one text is cut into rows that go on from batch to batch", "[lm][batches]") {
  const Stretches text{count_from(0, 23)};  // rows of 11: 0…10, 11…21
  const TokenBatches batches(text, 2, 4, "training");
  CHECK(batches.count() == 2);
  CHECK(batches.tokens() == 16);
  TokenBatch batch;
  batches.fill(0, batch);
  CHECK(batch.fresh);
  CHECK(batch.tokens == std::vector<std::int32_t>{0, 1, 2, 3, 11, 12, 13, 14});
  CHECK(batch.targets == std::vector<float>{1, 2, 3, 4, 12, 13, 14, 15});
  batches.fill(1, batch);
  CHECK_FALSE(batch.fresh);
  CHECK(batch.tokens == std::vector<std::int32_t>{4, 5, 6, 7, 15, 16, 17, 18});
  CHECK_ERROR(batches.fill(2, batch), usage, "from 0 to 1");
}

TEST_CASE("what fills no batch is left out, or kept as a shorter one", "[lm][batches]") {
  const Stretches text{count_from(0, 23)};
  const TokenBatches batches(text, 2, 4, "test", TokenBatches::Remainder::kept);
  CHECK(batches.count() == 3);
  CHECK(batches.tokens() == 20);
  TokenBatch batch;
  batches.fill(2, batch);
  CHECK(batch.steps == 2);
  CHECK(batch.tokens == std::vector<std::int32_t>{8, 9, 19, 20});
  CHECK(batch.targets == std::vector<float>{9, 10, 20, 21});
}

TEST_CASE("of several stretches each row has its own, and begins anew with the next", "[lm][batches]") {
  const Stretches text{count_from(0, 7), count_from(10, 8), count_from(20, 7), count_from(30, 7)};
  const TokenBatches batches(text, 2, 3, "training");
  CHECK(batches.count() == 4);
  CHECK(batches.tokens() == 24);
  TokenBatch batch;
  batches.fill(1, batch);
  CHECK_FALSE(batch.fresh);
  CHECK(batch.tokens == std::vector<std::int32_t>{3, 4, 5, 13, 14, 15});
  batches.fill(2, batch);
  CHECK(batch.fresh);
  CHECK(batch.tokens == std::vector<std::int32_t>{20, 21, 22, 30, 31, 32});
  CHECK_ERROR(TokenBatches(text, 3, 3, "training"), usage, "4 rows of text", "3 rows");
}

TEST_CASE("the protocols of Penn Treebank's test part score as many tokens as published", "[lm][batches]") {
  const Stretches text{count_from(0, 82'430)};
  CHECK(TokenBatches(text, 1, 1000, "test", TokenBatches::Remainder::kept).tokens() == 82'429);
  CHECK(TokenBatches(text, 20, 35, "test").tokens() == 81'900);
  CHECK(TokenBatches(text, 32, 20, "test").tokens() == 81'920);
}

TEST_CASE("text that is too short for a batch is refused with what it would take", "[lm][batches]") {
  const Stretches text{count_from(0, 9)};
  CHECK_ERROR(TokenBatches(text, 2, 4, "validation"), data, "validation part has 9 tokens", "2 rows of 4 steps",
              "take 10");
  CHECK_ERROR(TokenBatches(text, 0, 4, "validation"), usage, "got 0 and 4");
}

}  // namespace
}  // namespace stein::lm
