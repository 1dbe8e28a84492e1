#include <stein/inference/parameterizations/masked.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/host_copy.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace stein::inference {

double PruningOptions::share(std::int64_t k) const {
  if (decay_steps == 0) return k == 0 ? 0 : final_share;
  return final_share * (1 - std::pow(decay, static_cast<double>(k) / decay_steps));
}

template <class Scalar>
Masked<Scalar>::Masked(const PruningOptions& options, Layout weights, const std::vector<std::string>& entries,
                       RowRange rows, Device device)
    : options_(checked(options)),
      direct_(std::move(weights), device),
      rows_(rows),
      device_(device),
      driver_(driver<Scalar>(Ensemble{.device = device})) {
  STEIN_CHECK(rows.count >= 1, "masked weights: expected at least one row, got {}", rows.count);
  for (const std::string& name : entries) direct_.weights().at(name);
  const auto& from = coordinates().entries();
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (std::ranges::find(entries, from[k].name) == entries.end()) continue;
    const LayoutEntry& to = direct_.weights().entries()[k];
    for (std::int64_t r = 0; r < to.rows(); ++r)
      for (std::int64_t c = 0; c < to.columns(); ++c) {
        chosen_.push_back(from[k].offset + r * from[k].row_stride + c);
        places_.push_back(to.offset + r * to.row_stride + c);
      }
  }
  const auto count = static_cast<std::size_t>(rows.count);
  free_.assign(count * static_cast<std::size_t>(coordinates().size()), 1);
  pruned_.assign(count, 0);
  count_.assign(count, 0);
}

template <class Scalar>
std::span<std::uint8_t> Masked<Scalar>::mask(std::size_t place) {
  const auto size = static_cast<std::size_t>(coordinates().size());
  return std::span(free_).subspan(place * size, size);
}

template <class Scalar>
std::span<const std::uint8_t> Masked<Scalar>::free_coordinates(std::int64_t row) const {
  const std::size_t place = position(row);
  if (pruned_[place] == 0) return {};
  const auto size = static_cast<std::size_t>(coordinates().size());
  return std::span(free_).subspan(place * size, size);
}

template <class Scalar>
void Masked<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                             MatrixView<Scalar> weights, ForwardTrace& trace) const {
  direct_.forward(coordinates, noise, weights, trace);
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const std::span<const std::uint8_t> free = free_coordinates(coordinates.first_row + i);
    if (free.empty()) continue;
    if (device_.kind != Device::Kind::host) {
      driver_.hold(weights.row(i), free);
      continue;
    }
    for (std::size_t j = 0; j < chosen_.size(); ++j)
      if (free[chosen_[j]] == 0) weights(i, places_[j]) = 0;
  }
}

template <class Scalar>
void Masked<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                              MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                              ForwardTrace& trace) const {
  direct_.pullback(coordinates, noise, weight_gradient, gradient, trace);
  for (std::int64_t i = 0; i < gradient.rows; ++i)
    driver_.hold(gradient.row(i), free_coordinates(coordinates.first_row + i));
}

template <class Scalar>
void Masked<Scalar>::adapt(const ParticleRows<const Scalar>& coordinates) {
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const std::size_t place = position(coordinates.first_row + i);
    const double share = options_.share(count_[place]++);
    const auto wanted = static_cast<std::int64_t>(std::floor(share * static_cast<double>(prunable())));
    if (wanted <= pruned_[place]) continue;
    if (device_.kind == Device::Kind::host)
      prune(place, coordinates.values.row(i), wanted);
    else
      prune(place, host_copy(coordinates.values.block(i, 1), device_).row(0), wanted);
  }
}

template <class Scalar>
void Masked<Scalar>::prune(std::size_t place, std::span<const Scalar> values, std::int64_t count) {
  const std::span<std::uint8_t> free = mask(place);
  std::vector<std::int64_t> order = chosen_;
  // What is pruned already comes first whatever its value: it never comes back.
  const auto rank = [&](std::int64_t q) { return std::tuple(free[q], std::abs(values[q]), q); };
  std::nth_element(order.begin(), order.begin() + count, order.end(),
                   [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
  for (std::int64_t j = 0; j < count; ++j) free[order[j]] = 0;
  pruned_[place] = count;
}

template <class Scalar>
void Masked<Scalar>::save(Snapshot& snapshot) const {
  rows_.save(snapshot);
  snapshot.put("free", std::span<const std::uint8_t>(free_), {rows_.count, coordinates().size()});
  snapshot.put("pruned", pruned_);
  snapshot.put("adaptations", count_);
}

template <class Scalar>
void Masked<Scalar>::restore(const Snapshot& snapshot) {
  rows_.check(snapshot, "masked weights");
  snapshot.get("free", std::span<std::uint8_t>(free_));
  snapshot.get("pruned", std::span<std::int64_t>(pruned_));
  snapshot.get("adaptations", std::span<std::int64_t>(count_));
}

template class Masked<float>;
template class Masked<double>;

}  // namespace stein::inference
