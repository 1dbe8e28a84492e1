#include <fmt/format.h>
#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/replay/synthetic_news.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace stein::replay {
namespace {

constexpr std::int64_t first_name = 109'000;  ///< the articles of the real log have such numbers
constexpr std::int64_t first_time = 1'241'160'900;
constexpr std::int64_t events_a_second = 50;

/// Five memberships and the constant, with the six digits that are printed.
std::array<float, SyntheticNews::features> drawn_features(Draws& draws) {
  std::array<double, SyntheticNews::features - 1> shares{};
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(2 * draws.normal());
  std::array<float, SyntheticNews::features> found{};
  for (std::size_t j = 0; j < shares.size(); ++j)
    found[j + 1] = static_cast<float>(std::round(1e6 * shares[j] / sum) / 1e6);
  found[0] = 1;  // index 1
  return found;
}

}  // namespace

SyntheticNews::SyntheticNews(const Options& options) : options_(checked(options)) {
  Draws draws({.seed = static_cast<std::uint64_t>(options_.seed), .step = 0, .stream = Stream::environment}, 0);
  for (auto& row : shared_)
    for (double& weight : row) weight = 2 * draws.normal();
  page_.resize(places);
  event_.present.resize(places);
  event_.arm_features.resize(places * features);
  event_.dense.resize(features);
}

const SyntheticNews::Article& SyntheticNews::article(std::int64_t place, std::int64_t number) {
  Article& article = page_[static_cast<std::size_t>(place)];
  if (article.number == number) return article;
  Draws draws({.seed = static_cast<std::uint64_t>(options_.seed),
               .step = static_cast<std::uint64_t>(number),
               .stream = Stream::data},
              0);
  article.shares = drawn_features(draws);
  article.appeal = 0.4 * draws.normal();
  for (double& weight : article.own) weight = draws.normal();
  article.number = number;
  return article;
}

double SyntheticNews::click_probability(const Article& article) const {
  double score = -3.5 + article.appeal;
  for (std::size_t j = 0; j + 1 < features; ++j) {
    const double reader = double{event_.dense[j + 1]} - 0.2;
    score += reader * article.own[j];
    for (std::size_t k = 0; k + 1 < features; ++k)
      score += reader * shared_[j][k] * (double{article.shares[k + 1]} - 0.2);
  }
  return 1 / (1 + std::exp(-score));
}

const LoggedEvent& SyntheticNews::event(std::int64_t i) {
  STEIN_CHECK(i >= 0, "events are counted from 0, got {}", i);
  const auto seed = static_cast<std::uint64_t>(options_.seed), step = static_cast<std::uint64_t>(i);
  Draws reader({.seed = seed, .step = step, .stream = Stream::context}, 0);
  const auto seen = drawn_features(reader);
  std::ranges::copy(seen, event_.dense.begin());
  for (std::int64_t place = 0; place < places; ++place) {
    // Places take turns: article k of a place begins k lifetimes and its share of one after the first event.
    const std::int64_t generation = (i + place * options_.lifetime / places) / options_.lifetime;
    const std::int64_t number = generation * places + place;
    const Article& shown = article(place, number);
    const auto at = static_cast<std::size_t>(place);
    event_.present[at] = static_cast<std::int32_t>(number);
    std::ranges::copy(shown.shares, event_.arm_features.begin() + place * features);
    probabilities_[at] = click_probability(shown);
  }
  Draws answer({.seed = seed, .step = step, .stream = Stream::reward}, 0);
  const std::uint32_t place = answer.integer(places);
  event_.time = first_time + i / events_a_second;
  event_.action = event_.present[place];
  event_.propensity = 1.0 / static_cast<double>(places);
  event_.reward = answer.uniform() < probabilities_[place] ? 1 : 0;
  return event_;
}

std::string SyntheticNews::line() const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const auto add_features = [&](std::span<const float> numbers) {
    for (std::size_t k = 1; k < numbers.size(); ++k) fmt::format_to(out, " {}:{:.6f}", k + 1, numbers[k]);
    fmt::format_to(out, " 1:{:.6f}", numbers[0]);
  };
  fmt::format_to(out, "{} {} {} |user", event_.time, first_name + event_.action, event_.reward > 0 ? 1 : 0);
  add_features(event_.dense);
  for (std::size_t k = 0; k < event_.present.size(); ++k) {
    fmt::format_to(out, " |{}", first_name + event_.present[k]);
    add_features(std::span(event_.arm_features).subspan(k * features, features));
  }
  return fmt::to_string(text);
}

}  // namespace stein::replay
