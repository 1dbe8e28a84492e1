// Yahoo! Front Page Today Module user click log, version 1.0 (R6A).
#pragma once

#include <stein/replay/yahoo_news.h>

namespace stein::replay {

/// Features are `index:value`, 1 to 6: six numbers of the user, six of every article, which are membership in five
/// clusters and a constant (index 1). Lines with an article without all of its features, of which there are some, are
/// bad ones.
class YahooR6a final : public YahooNews {
 public:
  explicit YahooR6a(const Options& options);

  static bool recognises(std::string_view line);

 private:
  std::string_view take_user(std::string_view& rest, LoggedEvent& event) const override;
  std::string_view take_article(std::string_view& rest, std::vector<float>& values) const override;
};

}  // namespace stein::replay
