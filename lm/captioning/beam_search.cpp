#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/lm/captioning/beam_search.h>
#include <stein/lm/captioning/caption_vocabulary.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stein::lm {
namespace {

/// A word behind a hypothesis.
struct Continuation {
  double log_probability = 0;  ///< of the whole
  std::int32_t hypothesis = 0;
  std::int32_t token = 0;
};

/// A hypothesis: its last word, with those before it in `Trail`.
struct Hypothesis {
  double log_probability = 0;
  std::int32_t place = -1;  ///< in the trail; −1: no word yet
};

/// The words of all hypotheses of a search, each with the place of the word before it.
class Trail {
 public:
  explicit Trail(std::int64_t most) { words_.reserve(static_cast<std::size_t>(most)); }
  std::int32_t add(std::int32_t before, std::int32_t token) {
    words_.push_back({before, token});
    return static_cast<std::int32_t>(words_.size() - 1);
  }
  std::vector<std::int32_t> words(std::int32_t place) const {
    std::vector<std::int32_t> found;
    for (; place >= 0; place = words_[static_cast<std::size_t>(place)].before)
      found.push_back(words_[static_cast<std::size_t>(place)].token);
    std::ranges::reverse(found);
    return found;
  }

 private:
  struct Word {
    std::int32_t before, token;
  };
  std::vector<Word> words_;
};

/// A likely word.
struct Word {
  float probability;
  std::int32_t token;
};

/// The likeliest words of a row, the best first; `<start>` and `<unk>` are none. Returns how many there are.
/// @param best  takes as many as it has room for
std::size_t likeliest_words(std::span<const float> probabilities, std::span<Word> best) {
  constexpr std::size_t lanes = 16, stretch = 8 * lanes;
  std::size_t found = 0;
  float least = 0;
  const auto look_at = [&](std::size_t token) {
    const float probability = probabilities[token];
    if (!(probability > least)) return;
    std::size_t place = found < best.size() ? found++ : found - 1;
    for (; place > 0 && best[place - 1].probability < probability; --place) best[place] = best[place - 1];
    best[place] = {probability, static_cast<std::int32_t>(token)};
    if (found == best.size()) least = best.back().probability;
  };
  look_at(end_token);
  std::size_t token = unknown_token + 1;
  for (; token + stretch <= probabilities.size(); token += stretch) {
    std::array<float, lanes> most{};  // of a stretch, of which most have no word that matters
    for (std::size_t i = 0; i < stretch; i += lanes)
      for (std::size_t j = 0; j < lanes; ++j)
        most[j] = probabilities[token + i + j] > most[j] ? probabilities[token + i + j] : most[j];
    if (!(*std::ranges::max_element(most) > least)) continue;
    for (std::size_t i = 0; i < stretch; ++i) look_at(token + i);
  }
  for (; token < probabilities.size(); ++token) look_at(token);
  return found;
}

/// The search of one image.
class Beam {
 public:
  explicit Beam(const BeamOptions& options) : options_(options) {
    const auto width = static_cast<std::size_t>(options.beam_width);
    live_.reserve(width), next_.reserve(width), continuations_.reserve(width * (width + 1));
    live_.push_back({});
  }

  std::int64_t rows() const { return std::ssize(live_); }
  /// The row of this image's first hypothesis, now and before its last word.
  std::int64_t first_row = 0;

  /// Takes the likeliest next words of every hypothesis: `count[i]` of them from words[i · (W + 1)] on.
  void extend(std::span<const Word> words, std::span<const std::size_t> count, Trail& trail) {
    const auto width = static_cast<std::size_t>(options_.beam_width);
    continuations_.clear();
    for (std::size_t i = 0; i < live_.size(); ++i)
      for (std::size_t j = 0; j < count[i]; ++j) {
        const Word& word = words[i * (width + 1) + j];
        continuations_.push_back({live_[i].log_probability + std::log(static_cast<double>(word.probability)),
                                  static_cast<std::int32_t>(i), word.token});
      }
    const std::size_t looked_at = std::min(2 * width, continuations_.size());
    std::partial_sort(continuations_.begin(), continuations_.begin() + static_cast<std::ptrdiff_t>(looked_at),
                      continuations_.end(), comes_before);
    ++length_;
    next_.clear(), parents.clear(), tokens.clear();
    for (std::size_t rank = 0; rank < looked_at && next_.size() < width; ++rank) {
      const Continuation& each = continuations_[rank];
      const Hypothesis& parent = live_[static_cast<std::size_t>(each.hypothesis)];
      if (each.token == end_token) {
        if (rank < width && length_ > options_.min_length) finish(parent, each.log_probability, trail);
        continue;
      }
      next_.push_back({each.log_probability, trail.add(parent.place, each.token)});
      parents.push_back(first_row + each.hypothesis);
      tokens.push_back(each.token);
    }
    if (next_.empty() && finished.empty()) {  // nothing but an end is possible
      const Continuation& best = continuations_.front();
      finish(live_[static_cast<std::size_t>(best.hypothesis)], best.log_probability, trail);
    }
    std::swap(live_, next_);
    if (cannot_improve()) live_.clear();
  }
  /// Ends every hypothesis. @param end  probability of the end behind each
  void end_all(std::span<const double> end, const Trail& trail) {
    ++length_;
    for (std::size_t i = 0; i < live_.size(); ++i) finish(live_[i], live_[i].log_probability + std::log(end[i]), trail);
    live_.clear();
  }

  std::vector<std::int64_t> parents{};     ///< rows that the hypotheses continue
  std::vector<std::int32_t> tokens{};      ///< their last words
  std::vector<DecodedCaption> finished{};  ///< the W best, the best first

 private:
  static bool comes_before(const Continuation& a, const Continuation& b) {
    if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
    return a.hypothesis != b.hypothesis ? a.hypothesis < b.hypothesis : a.token < b.token;
  }

  void finish(const Hypothesis& hypothesis, double log_probability, const Trail& trail) {
    const double score = log_probability / std::pow(static_cast<double>(length_), options_.length_power);
    const auto place = std::ranges::upper_bound(finished, score, std::greater(), &DecodedCaption::score);
    const bool full = std::ssize(finished) == options_.beam_width;
    if (full && place == finished.end()) return;
    finished.insert(place, {trail.words(hypothesis.place), log_probability, score});
    if (full) finished.pop_back();
  }
  /// A caption's log p only falls, and the longest that there may be divides it most.
  bool cannot_improve() const {
    if (live_.empty()) return true;
    if (std::ssize(finished) < options_.beam_width) return false;
    const double longest = static_cast<double>(options_.max_length + 1);
    return live_.front().log_probability / std::pow(longest, options_.length_power) <= finished.back().score;
  }

  const BeamOptions& options_;
  std::vector<Hypothesis> live_, next_;
  std::vector<Continuation> continuations_;
  std::int64_t length_ = 0;  ///< words so far, an end counted
};

/// The search of several images side by side.
class Search {
 public:
  Search(NextWords& model, std::span<const std::int64_t> image_rows, const BeamOptions& options)
      : model_(model), options_(options), trail_(std::ssize(image_rows) * options.beam_width * options.max_length) {
    const std::size_t rows = image_rows.size() * static_cast<std::size_t>(options.beam_width);
    beams_.reserve(image_rows.size());
    while (beams_.size() < image_rows.size()) beams_.emplace_back(options);
    words_.resize(rows * static_cast<std::size_t>(options.beam_width + 1));
    count_.resize(rows), ends_.resize(rows), parents_.reserve(rows), tokens_.reserve(rows);
    model.begin(image_rows);
    number_rows();
  }

  std::vector<std::vector<DecodedCaption>> run() {
    for (std::int64_t length = 0; rows_ > 0; ++length) {
      length < options_.max_length ? extend() : end_all();
      parents_.clear(), tokens_.clear();
      for (const Beam& beam : beams_) {
        if (beam.rows() == 0) continue;
        parents_.insert(parents_.end(), beam.parents.begin(), beam.parents.end());
        tokens_.insert(tokens_.end(), beam.tokens.begin(), beam.tokens.end());
      }
      number_rows();
      if (rows_ > 0) model_.read(parents_, tokens_);
    }
    std::vector<std::vector<DecodedCaption>> found;
    for (Beam& beam : beams_) found.push_back(std::move(beam.finished));
    return found;
  }

 private:
  void number_rows() {
    rows_ = 0;
    for (Beam& beam : beams_) beam.first_row = rows_, rows_ += beam.rows();
  }

  void extend() {
    const inference::MatrixView<const float> probabilities = model_.probabilities();
    const auto room = static_cast<std::size_t>(options_.beam_width + 1);
    parallel_blocks(rows_, 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto row = static_cast<std::size_t>(i);
        count_[row] = likeliest_words(probabilities.row(i), std::span(words_).subspan(row * room, room));
      }
    });
    for (std::int64_t i = 0; i < rows_; ++i)
      if (count_[static_cast<std::size_t>(i)] == 0)
        fail(ErrorKind::numeric, "the model gives no word of {} a probability above 0", model_.vocabulary());
    for (Beam& beam : beams_) {
      if (beam.rows() == 0) continue;
      const auto first = static_cast<std::size_t>(beam.first_row);
      beam.extend(std::span(words_).subspan(first * room), std::span(count_).subspan(first), trail_);
    }
  }

  void end_all() {
    const inference::MatrixView<const float> probabilities = model_.probabilities();
    for (std::int64_t i = 0; i < rows_; ++i)
      ends_[static_cast<std::size_t>(i)] =
          std::max<double>(probabilities(i, end_token), std::numeric_limits<float>::denorm_min());
    for (Beam& beam : beams_) beam.end_all(std::span(ends_).subspan(static_cast<std::size_t>(beam.first_row)), trail_);
  }

  NextWords& model_;
  const BeamOptions& options_;
  std::vector<Beam> beams_;
  Trail trail_;
  std::int64_t rows_ = 0;           ///< hypotheses of all images
  std::vector<Word> words_;         ///< [rows, W + 1]
  std::vector<std::size_t> count_;  ///< [rows]
  std::vector<double> ends_;        ///< [rows]
  std::vector<std::int64_t> parents_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace

std::vector<std::vector<DecodedCaption>> beam_search(NextWords& model, std::span<const std::int64_t> image_rows,
                                                     const BeamOptions& options) {
  STEIN_CHECK(options.beam_width >= 1 && options.beam_width <= model.most_rows(),
              "a search with {} hypotheses needs as many rows, the model has room for {}", options.beam_width,
              model.most_rows());
  STEIN_CHECK(options.length_power >= 0 && options.max_length >= 1 && options.min_length <= options.max_length,
              "expected length_power >= 0, max_length >= 1 and min_length <= max_length, got {}, {} and {}",
              options.length_power, options.max_length, options.min_length);
  const auto together = static_cast<std::size_t>(model.most_rows() / options.beam_width);
  std::vector<std::vector<DecodedCaption>> found;
  for (std::size_t first = 0; first < image_rows.size(); first += together) {
    Search search(model, image_rows.subspan(first, std::min(together, image_rows.size() - first)), options);
    for (auto& captions : search.run()) found.push_back(std::move(captions));
  }
  return found;
}

}  // namespace stein::lm
