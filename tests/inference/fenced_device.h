// A device without a GPU: host memory that cannot be read or written outside the functions of its memory and its
// drivers, so that a step which reaches around them ends with a signal. The driver of its samplers is the reference,
// that of its weights the host's own. Its host runs one step ahead, as that of a GPU does: what a step met is told with
// the next one.
#pragma once

#include <stein/core/error.h>
#include <stein/inference/cuda/stein_weights_body.h>
#include <stein/inference/priors/learned_precision.h>
#include <stein/inference/samplers/diffusion.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/stein_move.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/inference/storage/device_room.h>
#include <stein/inference/weight_driver.h>

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace stein::test {

/// All memory of the device, and who has it open.
class Fence {
 public:
  static Fence& instance() {
    static Fence fence;
    return fence;
  }
  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::size_t taken = 0;
    for (const auto& [address, size] : blocks_) taken += size;
    if (bytes > room_ - std::min(room_, taken))
      inference::fail_without_room({.kind = inference::Device::Kind::fenced}, bytes, room_ - std::min(room_, taken),
                                   room_);
    void* const memory = ::mmap(nullptr, bytes, access(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // zeroed, whole pages
    if (memory == MAP_FAILED) fail(ErrorKind::io, "fenced device: no memory");
    blocks_.emplace(memory, bytes);
    return memory;
  }
  void release(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    blocks_.erase(memory);
    ::munmap(memory, bytes);
  }
  void open(int change) {
    const std::lock_guard lock(mutex_);
    open_ += change;
    for (const auto& [memory, bytes] : blocks_) ::mprotect(memory, bytes, access());
  }
  std::size_t blocks() const { return blocks_.size(); }
  /// How many bytes there are in all.
  void set_room(std::size_t bytes) { room_ = bytes; }
  bool holds(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto next = blocks_.upper_bound(const_cast<void*>(address));
    if (next == blocks_.begin()) return false;
    const auto& [memory, bytes] = *std::prev(next);
    return address < static_cast<const std::byte*>(memory) + bytes;
  }

 private:
  int access() const { return open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }

  std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
  std::size_t room_ = std::size_t{1} << 40;
  int open_ = 0;
};

/// While it lives, the memory can be read and written.
class OpenFence {
 public:
  OpenFence() { Fence::instance().open(1); }
  OpenFence(const OpenFence&) = delete;
  OpenFence& operator=(const OpenFence&) = delete;
  ~OpenFence() { Fence::instance().open(-1); }
};

/// Whether this process may read an address, found out without a signal: the system refuses to write from it.
inline bool readable(const void* address) {
  int ends[2];
  if (::pipe(ends) != 0) fail(ErrorKind::io, "no pipe");
  const bool written = ::write(ends[1], address, 1) == 1;
  ::close(ends[0]), ::close(ends[1]);
  return written;
}

/// How often the host has waited for what it had just asked for: of numbers that it reads, writes or looks at, and of
/// the last step of a sampler. For the step before the last it need not wait.
inline std::int64_t& fenced_waits() {
  static std::int64_t count = 0;
  return count;
}

/// What the steps of one sampler met, told one step late.
class FencedWatch final : public inference::MoveWatch {
 public:
  void begin() override {
    if (std::exchange(open_, true)) met_[now_].reset();  // a step that did not come to its end
  }
  std::optional<inference::NotFiniteNumber> end() override {
    open_ = false;
    if (ahead_ && met_[1 - now_]) return tell(1 - now_);
    ahead_ = true;
    now_ = 1 - now_;
    return {};
  }
  std::optional<inference::NotFiniteNumber> settle() override {
    if (!std::exchange(ahead_, false)) return {};
    ++fenced_waits();
    return tell(1 - now_);
  }

  /// Whether the step moves nothing, now that its gradients are looked at.
  bool stops(inference::MatrixView<const float> gradients) {
    look(true, gradients);
    return stopped();
  }
  bool stopped() const { return met_[1 - now_] || (met_[now_] && met_[now_]->gradient); }
  /// Looks for the first number that is not finite. Gradients come before values.
  void look(bool of_gradient, inference::MatrixView<const float> rows) {
    if (met_[now_] && (met_[now_]->gradient || !of_gradient)) return;
    for (std::int64_t i = 0; i < rows.rows; ++i)
      for (std::int64_t q = 0; q < rows.columns; ++q)
        if (!std::isfinite(rows(i, q))) {
          met_[now_] = {.gradient = of_gradient, .row = i, .column = q, .number = rows(i, q)};
          return;
        }
  }

 private:
  /// The words of both steps begin anew.
  std::optional<inference::NotFiniteNumber> tell(std::size_t step) {
    const auto met = met_[step];
    if (met) met_ = {}, ahead_ = false;
    return met;
  }

  std::array<std::optional<inference::NotFiniteNumber>, 2> met_;
  std::size_t now_ = 0;
  bool open_ = false, ahead_ = false;
};

/// Numbers that were sent home: here at once, read later.
class FencedNumbers final : public inference::LateNumbers {
 public:
  FencedNumbers(const double* from, std::size_t count) : numbers_(from, from + count) {}
  std::span<const double> wait() override { return numbers_; }

 private:
  std::vector<double> numbers_;
};

/// Whether an argument is where a sum is asked for, which the host reads.
template <class Argument>
bool asked_for(const Argument& argument) {
  if constexpr (std::is_same_v<Argument, double*>)
    return argument != nullptr;
  else
    return false;
}

/// A function that opens the fence around one function of a driver of the host.
template <auto driver_of, auto function>
struct Fenced;
template <auto driver_of, class Table, class Result, class... Arguments, Result (*Table::*function)(Arguments...)>
struct Fenced<driver_of, function> {
  static Result call(Arguments... arguments) {
    if (!std::is_void_v<Result> || (asked_for(arguments) || ...)) ++fenced_waits();
    const OpenFence open;
    return (driver_of().*function)(arguments...);
  }
};

/// The loops over weights: those of the host.
inline const inference::WeightDriver<float>& fenced_weight_driver() {
  using Table = inference::WeightDriver<float>;
  static constexpr auto host = []() -> const Table& { return inference::weight_driver<float>(inference::Device{}); };
  static const Table fenced{.name = "fenced",
                            .draw = Fenced<host, &Table::draw>::call,
                            .pull_back = Fenced<host, &Table::pull_back>::call,
                            .sum_of_log_deviations = Fenced<host, &Table::sum_of_log_deviations>::call,
                            .sum_of_expected_squares = Fenced<host, &Table::sum_of_expected_squares>::call,
                            .draw_matrix = Fenced<host, &Table::draw_matrix>::call,
                            .pull_back_matrix = Fenced<host, &Table::pull_back_matrix>::call,
                            .expected_square_of_matrix = Fenced<host, &Table::expected_square_of_matrix>::call,
                            .drop_units = Fenced<host, &Table::drop_units>::call,
                            .pull_back_units = Fenced<host, &Table::pull_back_units>::call,
                            .add_noise = Fenced<host, &Table::add_noise>::call,
                            .add_scale_mixture = Fenced<host, &Table::add_scale_mixture>::call,
                            .add_row_mixture = Fenced<host, &Table::add_row_mixture>::call,
                            .sharpen = Fenced<host, &Table::sharpen>::call,
                            .pull_back_rates = Fenced<host, &Table::pull_back_rates>::call,
                            .widen = Fenced<host, &Table::widen>::call,
                            .add_spike_and_slab = Fenced<host, &Table::add_spike_and_slab>::call,
                            .move_slab_shares = Fenced<host, &Table::move_slab_shares>::call,
                            .slab_sums = Fenced<host, &Table::slab_sums>::call,
                            .spread = Fenced<host, &Table::spread>::call,
                            .pack_sum = Fenced<host, &Table::pack_sum>::call,
                            .fill = Fenced<host, &Table::fill>::call,
                            .shift = Fenced<host, &Table::shift>::call,
                            .scale = Fenced<host, &Table::scale>::call,
                            .sum = Fenced<host, &Table::sum>::call,
                            .sum_of_squares_over = Fenced<host, &Table::sum_of_squares_over>::call,
                            .add_squares = Fenced<host, &Table::add_squares>::call};
  return fenced;
}

/// A move of a driver of the host, of which a watch is told where there is one.
template <class Move>
bool watched(inference::MoveWatch* of_sampler, inference::MatrixView<const float> gradients,
             inference::MatrixView<const float> values, const Move& move) {
  auto* const watch = static_cast<FencedWatch*>(of_sampler);
  if (watch == nullptr) {
    ++fenced_waits();
    return move();
  }
  if (!watch->stops(gradients) && !move()) watch->look(false, values);
  return true;
}

/// The device; the first call registers its memory and its drivers.
inline inference::Device fenced_device() {
  using namespace inference;
  static const DeviceMemory memory{
      .count = [] { return std::int32_t{3}; },  // one fence is around all of them
      .allocate = [](std::int32_t, std::size_t bytes) { return Fence::instance().allocate(bytes); },
      .release = [](std::int32_t, void* block, std::size_t bytes) noexcept { Fence::instance().release(block, bytes); },
      .copy_in =
          [](std::int32_t, void* to, const void* host, std::size_t bytes) {
            ++fenced_waits();
            const OpenFence open;
            std::memcpy(to, host, bytes);
          },
      .copy_out =
          [](std::int32_t, void* host, const void* from, std::size_t bytes) {
            ++fenced_waits();
            const OpenFence open;
            std::memcpy(host, from, bytes);
          },
      .copy_within =
          [](std::int32_t, void* to, const void* from, std::size_t bytes) {
            const OpenFence open;
            std::memcpy(to, from, bytes);
          },
      .send_home = [](std::int32_t, const double* from, std::size_t count) -> std::unique_ptr<LateNumbers> {
        const OpenFence open;
        return std::make_unique<FencedNumbers>(from, count);
      },
      .fill =
          [](std::int32_t, float* to, float value, std::size_t count) {
            const OpenFence open;
            std::fill_n(to, count, value);
          },
      .holds = [](std::int32_t, const void* address) { return Fence::instance().holds(address); },
      .enter =
          [](std::int32_t) {
            Fence::instance().open(1);
            return std::int32_t{0};
          },
      .leave = [](std::int32_t) noexcept { Fence::instance().open(-1); },
      .model = [](std::int32_t) -> std::string { return "fenced memory of the host"; }};
  static const Driver<float>& host = driver<float>(Ensemble{.arithmetic = Arithmetic::reference});
  static const Driver<float> fenced{
      .name = "fenced",
      .watch = [](Device) -> std::unique_ptr<MoveWatch> { return std::make_unique<FencedWatch>(); },
      .diffuse =
          [](const DiffusionStep<float>& step, DiffusionResult& result) {
            const OpenFence open;
            auto* const watch = static_cast<FencedWatch*>(step.watch);
            if (watch == nullptr || !result.momentum_squares.empty()) ++fenced_waits();
            if (watch == nullptr) return host.diffuse(step, result);
            // What comes before a gradient reads none.
            const bool half = step.dynamics == Dynamics::santa_half_move;
            if (half ? watch->stopped() : watch->stops(step.gradients)) return;
            host.diffuse(step, result);
            if (!std::exchange(result.finite, true)) watch->look(false, step.values);
          },
      .ascend =
          [](MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state,
             const OptimizerStep& step, MoveWatch* watch) {
            const OpenFence open;
            return watched(watch, directions, values,
                           [&] { return host.ascend(values, directions, state, step, nullptr); });
          },
      .stein_update =
          [](MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
             OptimizerState<float>& state, const OptimizerStep& step, MoveWatch* watch) {
            const OpenFence open;
            return watched(watch, gradients, values,
                           [&] { return host.stein_update(values, gradients, weights, state, step, nullptr); });
          },
      .stein_move =
          [](const SteinMove<float>& move) {
            if (move.values.rows > cuda::MakeSteinWeights::most_rows)
              ++fenced_waits();  // a GPU's host makes the kernel
            const OpenFence open;
            return watched(move.watch, move.gradients, move.values, [&] { return host.stein_move(move); });
          },
      .squared_distances =
          [](MatrixView<const float> values, std::span<double> distances) {
            ++fenced_waits();
            const OpenFence open;
            host.squared_distances(values, distances);
          },
      .inner_products =
          [](MatrixView<const float> values, std::span<double> products) {
            ++fenced_waits();
            const OpenFence open;
            host.inner_products(values, products);
          },
      .draw =
          [](MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation) {
            const OpenFence open;
            host.draw(rows, key, first_row, deviation);
          },
      .clip =
          [](MatrixView<float> gradients, const GradientClipOptions& options, MoveWatch* watch) {
            const OpenFence open;
            if (watch == nullptr || !static_cast<FencedWatch*>(watch)->stops(gradients))
              host.clip(gradients, options, nullptr);
          },
      .all_finite =
          [](MatrixView<const float> rows) {
            ++fenced_waits();
            const OpenFence open;
            return host.all_finite(rows);
          },
      .hold =
          [](std::span<float> values, std::span<const std::uint8_t> free) {
            const OpenFence open;
            host.hold(values, free);
          },
      .subtract_scaled =
          [](std::span<const float> values, float scale, std::span<float> gradient, double* squares) {
            if (squares != nullptr) ++fenced_waits();
            const OpenFence open;
            host.subtract_scaled(values, scale, gradient, squares);
          },
      .subtract_runs =
          [](MatrixView<const float> values, std::span<const ScaledRun<float>> runs, MatrixView<float> gradient) {
            const OpenFence open;
            host.subtract_runs(values, runs, gradient);
          },
      .add_learned_precision =
          [](MatrixView<const float> values, const LearnedPrecision& precision, MatrixView<float> gradient) {
            const OpenFence open;
            host.add_learned_precision(values, precision, gradient);
          },
      .sum_of_squares =
          [](std::span<const float> values) {
            ++fenced_waits();
            const OpenFence open;
            return host.sum_of_squares(values);
          },
      .add_products =
          [](std::span<const float> a, std::span<const float> b, double& sum) {
            ++fenced_waits();
            const OpenFence open;
            host.add_products(a, b, sum);
          }};
  static const bool registered = device_memories().add("fenced", memory) && device_drivers().add("fenced", &fenced) &&
                                 weight_drivers().add("fenced", &fenced_weight_driver());
  static_cast<void>(registered);
  return {.kind = Device::Kind::fenced};
}

}  // namespace stein::test
