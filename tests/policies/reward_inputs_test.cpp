// What a reward network sees, written out by hand.
#include <stein/policies/reward_inputs.h>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec plain{.name = "plain", .arms = 3, .context_size = 2};
const envs::BanditSpec one_hot{.name = "one-hot", .arms = 3, .context_size = 4, .active_columns = 2};

envs::BanditSpec with_features(envs::BanditSpec spec) {
  spec.arm_features = 2;
  return spec;
}

std::vector<std::vector<float>> dense_rows(const inference::Inputs<float>& inputs) {
  REQUIRE(inputs.ones.data == nullptr);
  std::vector<std::vector<float>> rows;
  for (std::int64_t i = 0; i < inputs.rows(); ++i)
    rows.emplace_back(inputs.dense.row(i).begin(), inputs.dense.row(i).end());
  return rows;
}

std::vector<std::vector<int>> one_rows(const inference::Inputs<float>& inputs) {
  REQUIRE(inputs.dense.data == nullptr);
  std::vector<std::vector<int>> rows;
  for (std::int64_t i = 0; i < inputs.rows(); ++i)
    rows.emplace_back(inputs.ones.row(i).begin(), inputs.ones.row(i).end());
  return rows;
}

std::vector<int> copy(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}

using DenseRows = std::vector<std::vector<float>>;
using OneRows = std::vector<std::vector<int>>;

const std::vector<float> numbers{.5F, -1}, features{1, 2, 3, 4};
const std::vector<std::int32_t> active{1, 3}, present{2, 0};

}  // namespace

TEST_CASE("heads see what all arms share, once, and answer at the arms' numbers", "[policies][reward-inputs]") {
  for (const RewardNetwork network : {RewardNetwork::heads, RewardNetwork::automatic}) {
    RewardInputs inputs(network, plain);
    CHECK(inputs.columns() == 2);
    CHECK(inputs.outputs() == 3);
    CHECK(dense_rows(inputs.of_context({.dense = numbers})) == DenseRows{{.5F, -1}});
    CHECK(copy(inputs.places({.dense = numbers})) == std::vector{0, 1, 2});
    CHECK(copy(inputs.places({.dense = numbers, .present = present})) == std::vector{2, 0});
  }
  RewardInputs inputs(RewardNetwork::heads, with_features(one_hot));
  CHECK(inputs.columns() == 4);
  CHECK(one_rows(inputs.of_context({.active = active, .present = present, .arm_features = features})) ==
        OneRows{{1, 3}});
}

TEST_CASE("a joint network sees the context and behind it the features of each arm", "[policies][reward-inputs]") {
  for (const RewardNetwork network : {RewardNetwork::joint, RewardNetwork::automatic}) {
    RewardInputs inputs(network, with_features(plain));
    CHECK(inputs.columns() == 4);
    CHECK(inputs.outputs() == 1);
    const envs::Context context{.dense = numbers, .present = present, .arm_features = features};
    CHECK(dense_rows(inputs.of_context(context)) == DenseRows{{.5F, -1, 1, 2}, {.5F, -1, 3, 4}});
    CHECK(copy(inputs.places(context)) == std::vector{0, 1});
  }
  RewardInputs spread(RewardNetwork::joint, with_features(one_hot));
  CHECK(spread.columns() == 6);
  const envs::Context context{.active = active, .present = present, .arm_features = features};
  CHECK(dense_rows(spread.of_context(context)) == DenseRows{{0, 1, 0, 1, 1, 2}, {0, 1, 0, 1, 3, 4}});
}

TEST_CASE("where arms have no features, a joint network sees their numbers as one-hot columns",
          "[policies][reward-inputs]") {
  RewardInputs dense(RewardNetwork::joint, plain);
  CHECK(dense.columns() == 5);
  CHECK(dense_rows(dense.of_context({.dense = numbers, .present = present})) ==
        DenseRows{{.5F, -1, 0, 0, 1}, {.5F, -1, 1, 0, 0}});
  CHECK(dense_rows(dense.of_context({.dense = numbers})).size() == 3);
  RewardInputs ones(RewardNetwork::joint, one_hot);
  CHECK(ones.columns() == 7);
  CHECK(one_rows(ones.of_context({.active = active, .present = present})) == OneRows{{1, 3, 6}, {1, 3, 4}});
  CHECK(copy(ones.places({.active = active})) == std::vector{0, 1, 2});
}

TEST_CASE("a batch has a row an interaction, with the arm that was chosen", "[policies][reward-inputs]") {
  const std::vector<float> contexts{.5F, -1, 2, 7};
  const std::vector<std::int32_t> ones{1, 3, 0, 2}, actions{2, 1};
  const InteractionBatch dense{.dense = contexts, .arm_features = features, .actions = actions, .rows = 2};
  const InteractionBatch hot{.active = ones, .arm_features = features, .actions = actions, .rows = 2};

  RewardInputs heads(RewardNetwork::heads, with_features(plain));
  CHECK(dense_rows(heads.of_batch(dense)) == DenseRows{{.5F, -1}, {2, 7}});
  CHECK(copy(heads.outputs_of(dense)) == std::vector{2, 1});
  RewardInputs joint(RewardNetwork::joint, with_features(plain));
  CHECK(dense_rows(joint.of_batch(dense)) == DenseRows{{.5F, -1, 1, 2}, {2, 7, 3, 4}});
  CHECK(copy(joint.outputs_of(dense)) == std::vector{0, 0});
  RewardInputs spread(RewardNetwork::joint, with_features(one_hot));
  CHECK(dense_rows(spread.of_batch(hot)) == DenseRows{{0, 1, 0, 1, 1, 2}, {1, 0, 1, 0, 3, 4}});

  const InteractionBatch numbered{.dense = contexts, .actions = actions, .rows = 2};
  RewardInputs dense_numbers(RewardNetwork::joint, plain);
  CHECK(dense_rows(dense_numbers.of_batch(numbered)) == DenseRows{{.5F, -1, 0, 0, 1}, {2, 7, 0, 1, 0}});
  RewardInputs hot_numbers(RewardNetwork::joint, one_hot);
  CHECK(one_rows(hot_numbers.of_batch({.active = ones, .actions = actions, .rows = 2})) ==
        OneRows{{1, 3, 6}, {0, 2, 5}});
}

TEST_CASE("a context of another shape than the bandit's is refused", "[policies][reward-inputs]") {
  RewardInputs inputs(RewardNetwork::joint, with_features(plain));
  CHECK_ERROR(inputs.of_context({.dense = numbers, .present = present}), usage, "plain", "got 0 in all");
}
