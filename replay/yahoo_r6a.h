// Yahoo! Front Page Today Module user click log, version 1.0 (R6A).
#pragma once

#include <stein/replay/log_format.h>

namespace stein::replay {

/// A line is `<time> <displayed article> <click> |user <features> |<article> <features> …`, features as `index:value`,
/// 1 to 6: six numbers of the user, six of every article that could have been shown, which are membership in five
/// clusters and a constant (index 1). Arms are articles; they were shown uniformly at random, so the propensity is one
/// in so many. Lines with an article without all of its features, of which there are some, are bad ones.
class YahooR6a final : public LogFormat {
 public:
  /// None.
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  explicit YahooR6a(const Options& options);

  const envs::BanditSpec& spec() const override { return spec_; }
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  static bool recognises(std::string_view line);

 private:
  envs::BanditSpec spec_;
  std::vector<std::string_view> names_;  ///< of the articles of a line
};

}  // namespace stein::replay
