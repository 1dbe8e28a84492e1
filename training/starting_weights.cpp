#include <stein/core/error.h>
#include <stein/inference/entry_view.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/training/starting_weights.h>

#include <fmt/ranges.h>

#include <utility>

namespace stein::training {
namespace {

using inference::LayoutEntry;

/// Throws Error(usage) unless both layouts have the same weights.
void check_same_network(const inference::Layout& start, const inference::Layout& own) {
  for (const auto* each : {&start, &own}) {
    const inference::Layout& other = each == &start ? own : start;
    for (const LayoutEntry& entry : each->entries()) {
      if (!entry.is_weight()) continue;
      const LayoutEntry* const same = other.find(entry.name);
      STEIN_CHECK(same != nullptr, "the weights to begin with are of another network: only {} has {}",
                  each == &start ? "theirs" : "this one", entry.name);
      STEIN_CHECK(same->shape == entry.shape, "the weights to begin with are of another network: {} is {}, expected {}",
                  entry.name, start.at(entry.name).shape, own.at(entry.name).shape);
    }
  }
  STEIN_CHECK(start.buffer_size() == own.buffer_size(),
              "the weights to begin with are of another network: it has {} numbers of state beside them, expected {}",
              start.buffer_size(), own.buffer_size());
}

/// Throws Error(usage) where both name words or classes, and not the same ones in the same order.
void check_same_names(const Snapshot& start, const Snapshot& own) {
  constexpr std::pair<const char*, const char*> names[] = {{"vocabulary/text", "another vocabulary"},
                                                           {"classes", "other classes"}};
  for (const auto& [name, what] : names) {
    const auto theirs = start.texts().find(name), ours = own.texts().find(name);
    STEIN_CHECK(theirs == start.texts().end() || ours == own.texts().end() || theirs->second == ours->second,
                "the weights to begin with are of {}: the same numbers would stand for other names", what);
  }
}

}  // namespace

StartingWeights starting_weights(NetworkWeights& from) {
  StartingWeights start{.layout = from.posterior().model().layout(), .weights = from.host_weights_now(), .buffers = {}};
  const inference::Device device = from.particles().device();
  if (start.layout.buffer_size() > 0) start.buffers = inference::host_copy<float>(from.buffers().block(0, 1), device);
  return start;
}

void begin_with(const StartingWeights& start, NetworkWeights& to, const Snapshot& meaning) {
  check_same_names(start.meaning, meaning);
  STEIN_CHECK(to.holds_plain_weights(),
              "weights to begin with are given to methods that move the weights themselves or their means; those of "
              "structured matrices are not told by their product");
  check_same_network(start.layout, to.posterior().model().layout());
  inference::Particles<float>& particles = to.particles();
  inference::Matrix<float> host = inference::host_copy<float>(std::as_const(particles).values(), particles.device());
  for (const LayoutEntry& from : start.layout.entries()) {
    if (!from.is_weight() && particles.layout().find(from.name) == nullptr) continue;  // a precision that one lacks
    const LayoutEntry& own = particles.layout().at(from.name);
    for (std::int64_t i = 0; i < host.rows(); ++i)
      inference::copy_rows(inference::entry_view(start.weights.row(0), from), inference::entry_view(host.row(i), own),
                           inference::Device{});
  }
  const inference::Matrix<float> moved = host.to(particles.device()), buffers = start.buffers.to(particles.device());
  inference::copy_rows(moved.view(), particles.values(), particles.device());
  if (buffers.rows() == 0) return;
  for (std::int64_t i = 0; i < particles.rows(); ++i)
    inference::copy_rows(buffers.view(), particles.buffers().block(i, 1), particles.device());
}

}  // namespace stein::training
