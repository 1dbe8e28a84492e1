// What the versions of Yahoo!'s Front Page Today Module user click log have in common.
#pragma once

#include <stein/replay/log_format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// A line is `<time> <displayed article> <click> |user <features> |<article> <features> …`. Arms are articles; one of
/// those that are named was shown uniformly at random, so the propensity is one in so many. What features look like is
/// the version's own.
///
/// The same articles stand on many lines, one after the other: those of the line before are kept, and read again only
/// where the text has changed.
class YahooNews : public LogFormat {
 public:
  /// None.
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  const envs::BanditSpec& spec() const final { return spec_; }
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) final;

 protected:
  /// @param spec  of the version; clicks are its rewards
  explicit YahooNews(envs::BanditSpec spec);

 private:
  /// Takes the features of the user to `event.dense`, and what is blank behind them: `rest` begins with a bar then, or
  /// is empty. Why the line is bad, or nothing.
  virtual std::string_view take_user(std::string_view& rest, LoggedEvent& event) const = 0;
  /// The same of an article, behind those of the articles before it in `features`.
  virtual std::string_view take_article(std::string_view& rest, std::vector<float>& features) const = 0;

  /// The articles of a line.
  struct Page {
    std::string text;  ///< empty where they make no event
    std::vector<std::string_view> names;
    std::vector<std::int32_t> arms;  ///< what the table that was asked last calls them; empty: none was
    std::vector<float> features;
  };
  /// Reads page_ from what is behind the user. Why the line is bad, or nothing.
  std::string_view read_page(std::string_view text);
  std::string_view take_articles(std::string_view rest);
  /// Numbers the articles of page_, unless that is what the table calls them already; false if one is there twice.
  bool number_arms(ArmTable& arms);

  envs::BanditSpec spec_;
  Page page_;
};

}  // namespace stein::replay
