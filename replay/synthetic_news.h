// A stand-in for Yahoo!'s news log whose truth is known.
#pragma once

#include <stein/core/options.h>
#include <stein/replay/logged_event.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stein::replay {

/// News as it is read on a front page: 20 articles that come and go, readers and articles with six features each, of
/// which five sum to one and the last is 1, one article shown uniformly at random, about 4 clicks in 100.
///
/// Reader i has memberships softmax(2 z) of five, article a likewise. The chance of a click is
///   σ(−3.5 + c_a + Σ_jk (u_j − 1/5) W_jk (x_k − 1/5) + Σ_j (u_j − 1/5) d_aj),
/// W_jk ~ N(0, 2²) shared by all, c_a ~ N(0, 0.4²) and d_aj ~ N(0, 1) an article's own: features tell something of an
/// article, and not all. Every place on the page gets a new article after `lifetime` events, one place after the other.
///
/// Everything is keyed by (seed, event): events can be made in any order. Features are those of the printed line, so
/// that a reader of the line knows them to the last digit.
class SyntheticNews {
 public:
  static constexpr std::int64_t places = 20, features = 6;

  /// The stream of events.
  struct Options {
    std::int64_t seed = 0;
    std::int64_t lifetime = 20'000;

    template <class V>
    void describe(V& v) {
      v("seed", seed, "of readers, articles and clicks", between(0, 9e15));
      v("lifetime", lifetime, "events from an article's first day to its last", between(20, 1e12), "events");
    }
  };

  /// Throws Error(usage) naming the option that is out of its range.
  explicit SyntheticNews(const Options& options);

  /// Event `i` ≥ 0, with the numbers of the articles (which count up from 0) as arms. Valid until the next call.
  const LoggedEvent& event(std::int64_t i);
  /// The chance of a click of every article on the page of the last event, [places].
  std::span<const double> click_probabilities() const { return probabilities_; }
  /// The last event as a line of R6A, without a line end.
  std::string line() const;

 private:
  /// What an article is.
  struct Article {
    std::int64_t number = -1;  ///< −1: none yet
    std::array<float, features> shares{};
    std::array<double, features - 1> own{};  ///< d
    double appeal = 0;                       ///< c
  };
  const Article& article(std::int64_t place, std::int64_t number);
  double click_probability(const Article& article) const;

  Options options_;
  std::array<std::array<double, features - 1>, features - 1> shared_{};  ///< W
  std::vector<Article> page_;                                            ///< [places]
  LoggedEvent event_;
  std::array<double, places> probabilities_{};
};

}  // namespace stein::replay
