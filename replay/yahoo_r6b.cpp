#include <stein/replay/words.h>
#include <stein/replay/yahoo_r6b.h>

#include <algorithm>

namespace stein::replay {
namespace {

const bool registered = register_log_format<YahooR6b>(
    "r6b", "Yahoo! news, R6B: 136 features of the user that are there or not, articles come and go");

}  // namespace

YahooR6b::YahooR6b(const Options&) {
  spec_ = {.name = "r6b",
           .context_size = user_features,
           .reward_low = 0,
           .reward_high = 1,
           .data = "real",
           .source = "Yahoo! Webscope R6B"};
}

LineVerdict YahooR6b::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  const auto bad = [](std::string_view reason) { return LineVerdict::bad(reason); };
  std::string_view rest = line;
  const std::string_view time = take_word(rest), displayed = take_word(rest), click = take_word(rest);
  if (!read_number(time, event.time)) return bad("the time is no whole number");
  if (displayed.empty() || displayed.front() == '|') return bad("no displayed article");
  if (click != "0" && click != "1") return bad("the click is neither 0 nor 1");
  event.reward = click == "1" ? 1 : 0;
  if (take_word(rest) != "|user") return bad("no features of the user");
  event.dense.assign(user_features, 0);
  names_.clear();
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    if (word.front() == '|') {
      if (word.size() == 1) return bad("an article without a name");
      names_.push_back(word.substr(1));
      continue;
    }
    if (!names_.empty()) return bad("an article with features");
    std::int64_t feature = 0;
    if (!read_number(word, feature) || feature < 1 || feature > user_features)
      return bad("a feature of the user that is none of 1 to 136");
    event.dense[static_cast<std::size_t>(feature - 1)] = 1;
  }
  if (names_.empty()) return bad("no articles to choose from");
  const auto shown = std::ranges::find(names_, displayed);
  if (shown == names_.end()) return bad("the displayed article is not among those to choose from");
  event.arm_features.clear();
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

bool YahooR6b::recognises(std::string_view line) {
  const std::size_t user = line.find("|user ");
  return user != std::string_view::npos && line.find(':', user) == std::string_view::npos;
}

}  // namespace stein::replay
