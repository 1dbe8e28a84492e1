#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stein/core/nearest_name.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace stein {
namespace {

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Edits between two short names: letters put in, left out, replaced, and neighbours that changed places.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(edits[0].begin(), edits[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    edits[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min({edits[i - 1][j - 1] + (a[i - 1] != b[j - 1]), edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits.back().back();
}

/// A name without the version behind it: "Pendulum" of "Pendulum-v1".
std::string_view without_version(std::string_view name) {
  const std::size_t version = name.rfind("-v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      std::ranges::all_of(name.substr(version + 2), [](unsigned char c) { return std::isdigit(c); });
  return is_version ? name.substr(0, version) : name;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const std::string lower = lower_case(name);
  // Of names that are as near the one with the same letters: `svgd` for `sgvd`, not `sgld`.
  const auto distance = [&](const std::string& candidate) {
    const std::string other = lower_case(candidate);
    const std::size_t edits = std::min(edit_distance(lower, other), edit_distance(lower, without_version(other)) + 1);
    return std::pair(edits, !std::ranges::is_permutation(lower, other));
  };
  const auto best = std::ranges::min_element(candidates, {}, distance);
  if (best == candidates.end()) return std::nullopt;
  const std::size_t edits = distance(*best).first;
  // A name cut short, as its letters are written: `CartPole-v1` for `CartPole`, not `cartpole`.
  const auto begun = std::ranges::find_if(
      candidates, [&](const std::string& candidate) { return name.size() >= 3 && candidate.starts_with(name); });
  if (begun != candidates.end()) return best->starts_with(name) ? *best : *begun;
  if (edits <= 1) return *best;
  // A name typed without its prefix or cut short: `bandwidth` for `kernel.bandwidth`.
  const auto part = std::ranges::find_if(candidates, [&](const std::string& candidate) {
    return name.size() >= 3 && lower_case(candidate).find(lower) != std::string::npos;
  });
  if (part != candidates.end()) return *part;
  if (edits <= std::max<std::size_t>(2, best->size() / 3)) return *best;
  return std::nullopt;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  if (const auto nearest = nearest_name(name, candidates)) return fmt::format(" Did you mean '{}'?", *nearest);
  if (candidates.empty()) return "";
  return fmt::format(" Known: {}.", fmt::join(candidates, ", "));
}

}  // namespace stein
