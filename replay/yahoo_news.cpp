#include <stein/replay/words.h>
#include <stein/replay/yahoo_news.h>

#include <algorithm>
#include <utility>

namespace stein::replay {

YahooNews::YahooNews(envs::BanditSpec spec) : spec_(std::move(spec)) {
  spec_.reward_low = 0, spec_.reward_high = 1, spec_.bounded = true;
  spec_.data = "real";
}

LineVerdict YahooNews::read(std::string_view line, ArmTable& arms, LoggedEvent& event) {
  if (line.empty()) return {LineVerdict::Kind::other};
  const auto bad = [](std::string_view reason) { return LineVerdict::bad(reason); };
  std::string_view rest = line;
  const std::string_view time = take_word(rest), displayed = take_word(rest), click = take_word(rest);
  if (!read_number(time, event.time)) return bad("the time is no whole number");
  if (displayed.empty() || displayed.front() == '|') return bad("no displayed article");
  if (click != "0" && click != "1") return bad("the click is neither 0 nor 1");
  event.reward = click == "1" ? 1 : 0;
  if (take_word(rest) != "|user") return bad("no features of the user");
  if (const std::string_view reason = take_user(rest, event); !reason.empty()) return bad(reason);

  if (rest.empty()) return bad("no articles to choose from");
  if (rest != page_.text)
    if (const std::string_view reason = read_page(rest); !reason.empty()) return bad(reason);
  const auto shown = std::ranges::find(page_.names, displayed);
  if (shown == page_.names.end()) return bad("the displayed article is not among those to choose from");
  if (!number_arms(arms)) return bad("an article twice");  // last: names of bad lines are no arms
  event.present = page_.arms;
  event.arm_features = page_.features;
  event.action = page_.arms[static_cast<std::size_t>(shown - page_.names.begin())];
  event.propensity = 1 / static_cast<double>(page_.arms.size());
  return {};
}

std::string_view YahooNews::read_page(std::string_view text) {
  page_.text = text;
  page_.names.clear(), page_.arms.clear(), page_.features.clear();
  const std::string_view reason = take_articles(page_.text);
  if (!reason.empty()) page_.text.clear();
  return reason;
}

std::string_view YahooNews::take_articles(std::string_view rest) {
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the bar
    if (rest.empty() || rest.front() == ' ') return "an article without a name";
    page_.names.push_back(take_word(rest));
    if (const std::string_view reason = take_article(rest, page_.features); !reason.empty()) return reason;
  }
  return {};
}

bool YahooNews::number_arms(ArmTable& arms) {
  const auto same = [&](std::int32_t arm, std::string_view name) {
    return arm < arms.size() && arms.name(arm) == name;
  };
  return std::ranges::equal(page_.arms, page_.names, same) || arms.number_all(page_.names, page_.arms);
}

}  // namespace stein::replay
