// Yahoo! Front Page Today Module user click log, version 2.0 (R6B).
#pragma once

#include <stein/replay/log_format.h>

#include <string_view>
#include <vector>

namespace stein::replay {

/// A line is `<time> <displayed article> <click> |user <features> |<article> |<article> …`: features of the user are
/// numbers of those that are there, 1 to 136, of which the first is always; articles have none. Articles were shown
/// uniformly at random.
class YahooR6b final : public LogFormat {
 public:
  static constexpr std::int64_t user_features = 136;

  /// None.
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  explicit YahooR6b(const Options& options);

  const envs::BanditSpec& spec() const override { return spec_; }
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  static bool recognises(std::string_view line);

 private:
  envs::BanditSpec spec_;
  std::vector<std::string_view> names_;  ///< of the articles of a line
};

}  // namespace stein::replay
