#include <stein/replay/words.h>
#include <stein/replay/yahoo_r6a.h>

#include <algorithm>
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

YahooR6a::YahooR6a(const Options&) {
  spec_ = {.name = "r6a",
           .context_size = features,
           .arm_features = features,
           .reward_low = 0,
           .reward_high = 1,
           .data = "real",
           .source = "Yahoo! Webscope R6A"};
}

LineVerdict YahooR6a::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  const auto bad = [](std::string_view reason) { return LineVerdict::bad(reason); };
  std::string_view rest = line;
  const std::string_view time = take_word(rest), displayed = take_word(rest), click = take_word(rest);
  if (!read_number(time, event.time)) return bad("the time is no whole number");
  if (displayed.empty() || displayed.front() == '|') return bad("no displayed article");
  if (click != "0" && click != "1") return bad("the click is neither 0 nor 1");
  event.reward = click == "1" ? 1 : 0;
  if (take_word(rest) != "|user") return bad("no features of the user");
  event.dense.resize(features);
  const Features user = take_features(rest, event.dense);
  if (user == Features::missing) return bad("a user with missing features");
  if (user == Features::wrong) return bad("a feature of the user that is no number");

  names_.clear();
  event.arm_features.clear();
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the bar
    if (rest.empty() || rest.front() == ' ') return bad("an article without a name");
    names_.push_back(take_word(rest));
    event.arm_features.resize(event.arm_features.size() + features);
    const Features found = take_features(rest, std::span(event.arm_features).last(features));
    if (found == Features::missing) return bad("an article with missing features");
    if (found == Features::wrong) return bad("a feature of an article that is no number");
  }
  if (names_.empty()) return bad("no articles to choose from");
  const auto shown = std::ranges::find(names_, displayed);
  if (shown == names_.end()) return bad("the displayed article is not among those to choose from");
  event.present.clear();
  for (const std::string_view name : names_) {  // only now: names of bad lines are no arms
    const std::int32_t arm = arms.number(name);
    if (std::ranges::find(event.present, arm) != event.present.end()) return bad("an article twice");
    event.present.push_back(arm);
  }
  event.action = event.present[static_cast<std::size_t>(shown - names_.begin())];
  event.propensity = 1 / static_cast<double>(event.present.size());
  return {};
}

bool YahooR6a::recognises(std::string_view line) {
  const std::size_t user = line.find("|user ");
  return user != std::string_view::npos && line.find(':', user) < line.find('|', user + 1);
}

}  // namespace stein::replay
