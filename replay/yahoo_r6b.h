// Yahoo! Front Page Today Module user click log, version 2.0 (R6B).
#pragma once

#include <stein/replay/yahoo_news.h>

namespace stein::replay {

/// Features of the user are numbers of those that are there, 1 to 136, of which the first is always; articles have
/// none.
class YahooR6b final : public YahooNews {
 public:
  static constexpr std::int64_t user_features = 136;

  explicit YahooR6b(const Options& options);

  static bool recognises(std::string_view line);

 private:
  std::string_view take_user(std::string_view& rest, LoggedEvent& event) const override;
  std::string_view take_article(std::string_view& rest, std::vector<float>& values) const override;
};

}  // namespace stein::replay
