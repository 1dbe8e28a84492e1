#include <stein/lm/captions/word_alignment.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stein::lm {
namespace {

/// The caption's words up to some place, aligned in one way.
struct PartialAlignment {
  std::vector<bool> used;  ///< words of the reference
  std::vector<WordMatch> matches{};
  std::int64_t chunks = 0;
  std::size_t distance = 0;
};

/// Numbers of matches.
struct MatchCounts {
  std::size_t exact = 0, all = 0;
};

class Aligner {
 public:
  Aligner(const StemmedWords& caption, const StemmedWords& reference) : caption_(caption), reference_(reference) {}

  std::vector<WordMatch> best() const {
    std::vector<PartialAlignment> open{{.used = std::vector<bool>(reference_.size(), false)}};
    const MatchCounts most = attainable(open.front(), 0);
    for (std::size_t place = 0; place < caption_.size(); ++place) {
      std::vector<PartialAlignment> next;
      for (const PartialAlignment& partial : open) extend(partial, place, most, next);
      open = best_of(std::move(next), place);
    }
    return open.front().matches;
  }

 private:
  static constexpr std::size_t most_open = 200;

  /// `partial` with the caption's word at `place` in each possible match, and in none.
  void extend(const PartialAlignment& partial, std::size_t place, const MatchCounts& most,
              std::vector<PartialAlignment>& next) const {
    const auto keep = [&](PartialAlignment candidate) {
      const MatchCounts counts = attainable(candidate, place + 1);
      if (counts.exact == most.exact && counts.all == most.all) next.push_back(std::move(candidate));
    };
    for (std::size_t j = 0; j < reference_.size(); ++j) {
      if (partial.used[j] || caption_[place].stem != reference_[j].stem) continue;
      PartialAlignment longer = partial;
      longer.used[j] = true;
      longer.matches.push_back({place, j, caption_[place].word == reference_[j].word});
      longer.chunks = count_chunks(longer.matches);
      longer.distance += place > j ? place - j : j - place;
      keep(std::move(longer));
    }
    keep(partial);
  }

  /// The matches of `partial`, and the most that the words from `place` on can add.
  MatchCounts attainable(const PartialAlignment& partial, std::size_t place) const {
    MatchCounts counts{.all = partial.matches.size()};
    for (const WordMatch& match : partial.matches) counts.exact += match.exact ? 1 : 0;
    std::map<std::string_view, int> free_words, free_stems;
    for (std::size_t j = 0; j < reference_.size(); ++j)
      if (!partial.used[j]) ++free_words[reference_[j].word], ++free_stems[reference_[j].stem];
    for (std::size_t i = place; i < caption_.size(); ++i) {
      if (--free_words[caption_[i].word] >= 0) ++counts.exact;
      if (--free_stems[caption_[i].stem] >= 0) ++counts.all;
    }
    return counts;
  }

  /// Of alignments that go on alike the best, by chunks and distance; of all of them the best `most_open`, in order.
  static std::vector<PartialAlignment> best_of(std::vector<PartialAlignment> candidates, std::size_t place) {
    const auto better = [](const PartialAlignment& a, const PartialAlignment& b) {
      return std::tie(a.chunks, a.distance) < std::tie(b.chunks, b.distance);
    };
    std::ranges::stable_sort(candidates, better);
    std::vector<PartialAlignment> kept;
    std::map<std::pair<std::vector<bool>, std::size_t>, bool> seen;
    for (PartialAlignment& candidate : candidates) {
      const bool goes_on = !candidate.matches.empty() && candidate.matches.back().caption == place;
      const std::size_t last = goes_on ? candidate.matches.back().reference : candidate.used.size();
      if (kept.size() < most_open && seen.emplace(std::pair{candidate.used, last}, true).second)
        kept.push_back(std::move(candidate));
    }
    return kept;
  }

  const StemmedWords& caption_;
  const StemmedWords& reference_;
};

}  // namespace

std::vector<WordMatch> align_words(const StemmedWords& caption, const StemmedWords& reference) {
  return Aligner(caption, reference).best();
}

std::int64_t count_chunks(std::span<const WordMatch> matches) {
  std::int64_t chunks = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const bool goes_on = i > 0 && matches[i].caption == matches[i - 1].caption + 1 &&
                         matches[i].reference == matches[i - 1].reference + 1;
    if (!goes_on) ++chunks;
  }
  return chunks;
}

}  // namespace stein::lm
