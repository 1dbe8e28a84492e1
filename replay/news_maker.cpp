// `stein data make news-synthetic`: made-up news as a log in the format of R6A.
#include <stein/core/data/data_maker.h>
#include <stein/replay/synthetic_news.h>

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
    for (std::int64_t i = 0; i < options.events; ++i) {
      news.event(i);
      write(news.line());
    }
  }
};

const bool registered = register_data_maker<NewsMaker>(
    "news-synthetic", "a log of clicks on 20 articles that come and go, shown uniformly at random, in the format r6a",
    "news-synthetic.gz");

}  // namespace
}  // namespace stein::replay
