#include <stein/replay/yahoo_r6a.h>

#include <charconv>
#include <cmath>
#include <span>

namespace stein::replay {
namespace {

const bool registered = register_log_format<YahooR6a>(
    "r6a", "Yahoo! news, R6A: six features of the user and of every article, articles come and go");

constexpr std::size_t features = 6;

enum class Features { all, missing, wrong };

/// Reads `index:value …` up to the next bar or the end of the text.
Features take_features(std::string_view& text, std::span<float> values) {
  unsigned seen = 0;
  const char *at = text.data(), *const end = text.data() + text.size();
  const auto finish = [&](Features found) {
    text.remove_prefix(static_cast<std::size_t>(at - text.data()));
    return found;
  };
  while (true) {
    while (at < end && *at == ' ') ++at;
    if (at == end || *at == '|') return finish(seen == (1U << features) - 1 ? Features::all : Features::missing);
    const auto index = static_cast<unsigned>(*at - '1');
    if (index >= features || end - at < 3 || at[1] != ':' || (seen >> index & 1U) != 0) return finish(Features::wrong);
    const auto [behind, error] = std::from_chars(at + 2, end, values[index]);
    if (error != std::errc() || !std::isfinite(values[index])) return finish(Features::wrong);
    at = behind;
    if (at < end && *at != ' ') return finish(Features::wrong);
    seen |= 1U << index;
  }
}

}  // namespace

YahooR6a::YahooR6a(const Options&)
    : YahooNews({.name = "r6a", .context_size = features, .arm_features = features, .source = "Yahoo! Webscope R6A"}) {}

std::string_view YahooR6a::take_user(std::string_view& rest, LoggedEvent& event) const {
  event.dense.resize(features);
  switch (take_features(rest, event.dense)) {
    case Features::missing: return "a user with missing features";
    case Features::wrong: return "a feature of the user that is no number";
    case Features::all: break;
  }
  return {};
}

std::string_view YahooR6a::take_article(std::string_view& rest, std::vector<float>& values) const {
  values.resize(values.size() + features);
  switch (take_features(rest, std::span(values).last(features))) {
    case Features::missing: return "an article with missing features";
    case Features::wrong: return "a feature of an article that is no number";
    case Features::all: break;
  }
  return {};
}

bool YahooR6a::recognises(std::string_view line) {
  const std::size_t user = line.find("|user ");
  return user != std::string_view::npos && line.find(':', user) < line.find('|', user + 1);
}

}  // namespace stein::replay
