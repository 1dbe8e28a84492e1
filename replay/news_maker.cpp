// `stein data make news-synthetic`: made-up news as a log in the format of R6A.
#include <stein/core/data/data_maker.h>
#include <stein/core/log.h>
#include <stein/replay/synthetic_news.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace stein::replay {
namespace {

struct NewsMaker {
  /// How many events, and of what stream.
  struct Options {
    std::int64_t events = 1'000'000;
    SyntheticNews::Options news{};

    template <class V>
    void describe(V& v) {
      v("events", events, "lines of the log", between(1, 1e10), "events");
      news.describe(v);
    }
  };

  static std::int64_t lines(const Options& options) { return options.events; }
  static void make(const Options& options, const std::function<void(std::string_view line)>& write) {
    SyntheticNews news(options.news);
    double uniform = 0, best = 0;  // chances of a click, summed over events
    for (std::int64_t i = 0; i < options.events; ++i) {
      news.event(i);
      write(news.line());
      const std::span<const double> chances = news.click_probabilities();
      uniform += std::accumulate(chances.begin(), chances.end(), 0.0) / static_cast<double>(chances.size());
      best += std::ranges::max(chances);
    }
    const auto events = static_cast<double>(options.events);
    log_info("chances of a click, means over events: {:.6f} of an article drawn uniformly, {:.6f} of the best article",
             uniform / events, best / events);
  }
};

const bool registered = register_data_maker<NewsMaker>(
    "news-synthetic", "a log of clicks on 20 articles that come and go, shown uniformly at random, in the format r6a",
    "news-synthetic.gz");

}  // namespace
}  // namespace stein::replay
