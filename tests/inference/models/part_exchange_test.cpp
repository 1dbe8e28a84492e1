// Ranks that share work on devices: every rank has the bits of one process, whichever way the numbers go.
#include <stein/distributed/agree.h>
#include <stein/inference/models/chunked_model.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/storage/host_copy.h>

#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/error_matcher.h"
#include "distributed/thread_ranks.h"
#include "inference/gpu.h"
#include "inference/models/plain_recurrent.h"
#include "inference/thread_exchange.h"

namespace stein::inference {
namespace {

using distributed::Communicator;

/// How numbers go from rank to rank.
enum class Way { by_hosts, directly };

/// A model of the host whose weights lie on the fenced device. It says NaN of the gradient of row `broken`.
class FencedModel final : public ForwardingModel<float> {
 public:
  explicit FencedModel(std::unique_ptr<Model<float>> model, std::int64_t broken = -1)
      : ForwardingModel<float>(std::move(model)), broken_(broken) {}
  Device device() const override { return test::fenced_device(); }
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      const Evaluation<float>& wanted) override {
    const test::OpenFence open;
    model().log_likelihood(weights, batch, noise, wanted);
    const std::int64_t row = broken_ - weights.first_row;
    if (row >= 0 && row < weights.values.rows) wanted.gradient(row, 1) = std::numeric_limits<float>::quiet_NaN();
  }

 private:
  std::int64_t broken_;
};

/// What a model says of a batch, as bits: two that are no number are alike.
struct Bits {
  std::vector<std::uint32_t> gradient{}, after{};
  std::vector<std::uint64_t> value{};
  bool operator==(const Bits&) const = default;
};

std::vector<std::uint32_t> bits_of(const Matrix<float>& rows) {
  const Matrix<float> home = rows.to({});
  std::vector<std::uint32_t> bits;
  for (std::int64_t i = 0; i < home.rows(); ++i)
    for (const float number : home.row(i)) bits.push_back(std::bit_cast<std::uint32_t>(number));
  return bits;
}

/// A recurrent network with carried state and dropout, and some rows of weights.
struct SharedCase {
  RecurrentSpec spec{.vocabulary = 7, .embedding = 4, .hidden = 5, .layers = 2, .dropout = 0.3};
  test::RecurrentCase sequences = test::RecurrentCase::make(spec, 5, 3);
  Matrix<float> weights, before;

  explicit SharedCase(std::int64_t rows)
      : weights(rows, std::ssize(sequences.float_weights)), before(rows, sequences.carried_size()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      fill_normal(weights.row(i), {.seed = 11}, static_cast<std::uint32_t>(i));
      fill_normal(before.row(i), {.seed = 9}, static_cast<std::uint32_t>(i));
    }
  }
  std::unique_ptr<Model<float>> model() const { return std::make_unique<ParticleRecurrent>(spec); }

  Bits ask(Model<float>& asked) {
    const Device device = asked.device();
    const Matrix<float> there = weights.to(device);
    Matrix<float> start = before.to(device), after(start.rows(), start.columns(), device),
                  gradient(there.rows(), there.columns(), device);
    Batch<float> batch = sequences.batch();
    batch.inputs.carried = {start.view(), after.view(), device};
    std::vector<double> value(static_cast<std::size_t>(there.rows()));
    asked.log_likelihood({there.view(), 3, {}}, batch, {.seed = 8, .step = 2, .stream = Stream::model},
                         {.gradient = gradient.view(), .value = value});
    Bits bits{.gradient = bits_of(gradient), .after = bits_of(after)};
    for (const double each : value) bits.value.push_back(std::bit_cast<std::uint64_t>(each));
    return bits;
  }
};

/// How many of `size` ranks, asked twice, have these bits.
int alike(int size, Way way, std::int64_t rows, std::int64_t chunks, std::int64_t broken, const Bits& expected) {
  const auto board = std::make_shared<test::ExchangeBoard>(size);
  std::atomic<int> found = 0;
  test::on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    SharedCase c(rows);
    ChunkedModel<float> model(std::make_unique<FencedModel>(c.model(), broken), chunks);
    PartExchange exchange(
        *ranks, model.device(),
        way == Way::directly ? std::make_unique<test::ThreadExchange>(ranks->rank(), board) : nullptr);
    const auto shared = model.shared_by(exchange);
    for (int again = 0; again < 2; ++again) found += c.ask(model) == expected ? 1 : 0;  // memory that is used again
  });
  CHECK((board->gathered > 0) == (way == Way::directly));
  return found;
}

TEST_CASE("ranks share rows and chunks on a device, and each has the bits of one process on the host",
          "[inference][distributed][device]") {
  const auto [rows, chunks] = GENERATE(table<std::int64_t, std::int64_t>({{1, 4}, {3, 1}, {3, 4}, {4, 2}, {1, 1}}));
  SharedCase c(rows);
  ChunkedModel<float> host(c.model(), chunks), alone(std::make_unique<FencedModel>(c.model()), chunks);
  const Bits expected = c.ask(host);
  CHECK((c.ask(alone) == expected));
  for (const int size : {1, 2, 3, 4, 5})
    for (const Way way : {Way::by_hosts, Way::directly}) {
      CAPTURE(rows, chunks, size, way == Way::directly);
      CHECK(alike(size, way, rows, chunks, -1, expected) == 2 * size);
    }
}

TEST_CASE("a number that is none on one rank's device is the same on all, and nothing else changes",
          "[inference][distributed][device]") {
  SharedCase c(4);
  ChunkedModel<float> alone(std::make_unique<FencedModel>(c.model(), 3 + 2), 1);
  const Bits expected = c.ask(alone);
  for (const Way way : {Way::by_hosts, Way::directly}) CHECK(alike(3, way, 4, 1, 3 + 2, expected) == 6);
}

TEST_CASE("a rank whose device fails tells all before any waits for its numbers", "[inference][distributed][device]") {
  for (const Way way : {Way::by_hosts, Way::directly}) {
    const auto board = std::make_shared<test::ExchangeBoard>(3);
    std::atomic<int> told = 0;
    test::on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
      PartExchange exchange(
          *ranks, test::fenced_device(),
          way == Way::directly ? std::make_unique<test::ThreadExchange>(ranks->rank(), board) : nullptr);
      const auto work = [&](distributed::PartRange own) {
        if (own.first <= 4 && 4 < own.end) fail(ErrorKind::io, "cannot get memory on the GPU");
      };
      try {
        exchange.share<float>(6, work, [](std::int64_t) { return PartNumbers<float>{}; });
      } catch (const distributed::AgreedError& error) {
        told += std::string(error.what()).find("cannot get memory on the GPU") != std::string::npos ? 1 : 0;
      }
    });
    CHECK(told == 3);
    CHECK(board->gathered == 0);
  }
}

TEST_CASE("what ranks receive from device to device is counted as what they receive by message",
          "[inference][distributed][device]") {
  for (const Way way : {Way::by_hosts, Way::directly}) {
    const auto board = std::make_shared<test::ExchangeBoard>(2);
    std::atomic<std::int64_t> received = 0, exchanges = 0;
    test::on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
      Matrix<float> gradients(3, 7, test::fenced_device()), state(3, 2);
      std::vector<double> values(3);
      PartExchange exchange(
          *ranks, test::fenced_device(),
          way == Way::directly ? std::make_unique<test::ThreadExchange>(ranks->rank(), board) : nullptr);
      exchange.share<float>(
          3, [](distributed::PartRange) {},
          [&](std::int64_t part) {
            return PartNumbers<float>{
                .values = std::span(values).subspan(static_cast<std::size_t>(part), 1),
                .tensors = {PlacedRows<float>{gradients.view().block(part, 1), test::fenced_device()},
                            PlacedRows<float>{state.view().block(part, 1), {}}}};
          });
      received += ranks->sharing().bytes, exchanges += ranks->sharing().exchanges;
    });
    CHECK(received == 3 * (7 * 4 + 2 * 4 + 8));  // each of three parts is one rank's, and comes to the other
    CHECK(exchanges == 2);
  }
}

/// Drivers of devices that need not be there: what they were told, in order.
std::vector<std::string>& joined() {
  static std::vector<std::string> notes;
  return notes;
}

class NoExchange final : public DeviceExchange {
  void all_gather(std::span<const OwnedBytes>) override {}
  void send(std::span<const SentBytes>) override {}
};

const DeviceExchangeDriver noting_driver{.name = "noting",
                                         .identity =
                                             [](std::int32_t index) {
                                               if (index < 0) fail(ErrorKind::io, "cannot use a GPU");
                                               return "device " + std::to_string(index);
                                             },
                                         .invitation = []() -> std::string { return "come"; },
                                         .join = [](std::int32_t index, int rank, int size,
                                                    const std::string& invitation) -> std::unique_ptr<DeviceExchange> {
                                           static std::mutex mutex;
                                           const std::scoped_lock lock(mutex);
                                           joined().push_back(std::to_string(index) + " as " + std::to_string(rank) +
                                                              " of " + std::to_string(size) + ": " + invitation);
                                           return std::make_unique<NoExchange>();
                                         }};

/// How many of the ranks with these devices find one another; −1: one has no driver.
int join(const std::vector<std::int32_t>& devices) {
  joined().clear();
  std::atomic<int> found = 0;
  test::on_ranks(static_cast<int>(devices.size()), [&](const std::shared_ptr<Communicator>& ranks) {
    const std::int32_t own = devices[static_cast<std::size_t>(ranks->rank())];
    found += join_devices(*ranks, own == -1 ? nullptr : &noting_driver, own) != nullptr ? 1 : 0;
  });
  std::ranges::sort(joined());
  return found;
}

TEST_CASE("ranks with a device each find one another by what the root tells, others go by way of the hosts",
          "[inference][distributed][device]") {
  CHECK(join({4, 2, 7}) == 3);
  CHECK(joined() == std::vector<std::string>{"2 as 1 of 3: come", "4 as 0 of 3: come", "7 as 2 of 3: come"});
  CHECK(join({0, 1, 0}) == 0);   // two ranks have one device
  CHECK(join({0, -1, 2}) == 0);  // one was built without
  CHECK(joined().empty());
  std::atomic<int> told = 0;
  test::on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    try {
      static_cast<void>(join_devices(*ranks, &noting_driver, ranks->rank() == 1 ? -2 : 0));
    } catch (const distributed::AgreedError& error) {
      told += std::string(error.what()) == "rank 1: cannot use a GPU" ? 1 : 0;
    }
    told += join_devices(*ranks, test::fenced_device()) == nullptr ? 1 : 0;
  });
  CHECK(told == 4);
}

TEST_CASE("NCCL is loaded where it was built, and says that there is no GPU where there is none",
          "[inference][distributed][device]") {
  if (!has_component("cuda_ranks")) test::skip("built without NCCL");
  load_component("cuda_ranks");
  const DeviceExchangeDriver& nccl = *device_exchange_drivers().at("cuda");
  CHECK(nccl.name == "cuda");
  if (device_memory(Device::Kind::cuda).count() == 0) CHECK_ERROR(nccl.identity(0), usage, "there is no GPU");
  CHECK_ERROR(nccl.join(0, 0, 1, "short"), usage, "expected an id of 128 bytes, got 5");
}

TEST_CASE("a GPU that is alone gathers its own numbers by NCCL", "[inference][distributed][device][gpu]") {
  const Device gpu = test::gpu();
  if (!has_component("cuda_ranks")) test::skip("built without NCCL");
  load_component("cuda_ranks");
  const DeviceExchangeDriver& nccl = *device_exchange_drivers().at("cuda");
  CHECK(nccl.identity(0).size() == 32);
  const std::unique_ptr<DeviceExchange> exchange = nccl.join(gpu.index, 0, 1, nccl.invitation());
  Matrix<float> here(3, 1000);
  for (std::int64_t i = 0; i < 3; ++i) fill_normal(here.row(i), {.seed = 4}, static_cast<std::uint32_t>(i));
  Matrix<float> there = here.to(gpu);
  std::vector<OwnedBytes> blocks;
  for (std::int64_t i = 0; i < 3; ++i) blocks.push_back({there.row(i).data(), there.row(i).size_bytes(), 0});
  exchange->all_gather(blocks);
  exchange->all_gather({});
  CHECK((bits_of(there) == bits_of(here)));
}

}  // namespace
}  // namespace stein::inference
