#include <stein/replay/words.h>
#include <stein/replay/yahoo_r6b.h>

namespace stein::replay {
namespace {

const bool registered = register_log_format<YahooR6b>(
    "r6b", "Yahoo! news, R6B: 136 features of the user that are there or not, articles come and go");

}  // namespace

YahooR6b::YahooR6b(const Options&)
    : YahooNews({.name = "r6b", .context_size = user_features, .source = "Yahoo! Webscope R6B"}) {}

std::string_view YahooR6b::take_user(std::string_view& rest, LoggedEvent& event) const {
  event.dense.assign(user_features, 0);
  for (skip_blanks(rest); !rest.empty() && rest.front() != '|'; skip_blanks(rest)) {
    std::int64_t feature = 0;
    if (!read_number(take_word(rest), feature) || feature < 1 || feature > user_features)
      return "a feature of the user that is none of 1 to 136";
    event.dense[static_cast<std::size_t>(feature - 1)] = 1;
  }
  return {};
}

std::string_view YahooR6b::take_article(std::string_view& rest, std::vector<float>&) const {
  skip_blanks(rest);
  return rest.empty() || rest.front() == '|' ? "" : "an article with features";
}

bool YahooR6b::recognises(std::string_view line) {
  const std::size_t user = line.find("|user ");
  return user != std::string_view::npos && line.find(':', user) == std::string_view::npos;
}

}  // namespace stein::replay
