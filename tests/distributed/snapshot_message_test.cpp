#include <stein/distributed/snapshot_message.h>

#include <catch2/catch.hpp>

using namespace stein;

TEST_CASE("a snapshot arrives as it was sent: types, shapes, empty arrays, texts that are no UTF-8", "[distributed]") {
  const std::vector<float> weights{1, -0.0F, 3, 4};
  Snapshot sent;
  sent.put("seed_0/weights", std::span<const float>(weights), {2, 2});
  sent.put("seed_0/steps", std::int64_t{1} << 60);
  sent.put("nothing", std::vector<double>());
  sent.put_text("seed_0/text", std::string("a\nb\0\xff", 5));
  sent.put_text("empty", "");
  const Snapshot arrived = distributed::from_message(distributed::to_message(sent));
  CHECK(arrived.texts() == sent.texts());
  REQUIRE(arrived.arrays().size() == 3);
  for (const auto& [name, array] : sent.arrays()) {
    const Snapshot::Array& other = arrived.arrays().at(name);
    CHECK(other.type == array.type);
    CHECK(other.shape == array.shape);
    CHECK(other.bytes == array.bytes);
  }
}
