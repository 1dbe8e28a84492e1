#include <stein/lm/captions/rouge_l.h>

#include <algorithm>

namespace stein::lm {
namespace {

double score(const TokenizedCaption& caption) {
  constexpr double beta_squared = 1.2 * 1.2;
  double precision = 0, recall = 0;
  for (const Words& reference : caption.references) {
    const std::size_t shared = longest_common_subsequence(caption.caption, reference);
    if (shared == 0) continue;
    precision = std::max(precision, static_cast<double>(shared) / static_cast<double>(caption.caption.size()));
    recall = std::max(recall, static_cast<double>(shared) / static_cast<double>(reference.size()));
  }
  if (precision == 0) return 0;
  return (1 + beta_squared) * precision * recall / (recall + beta_squared * precision);
}

}  // namespace

std::size_t longest_common_subsequence(const Words& first, const Words& second) {
  std::vector<std::size_t> lengths(second.size() + 1,
                                   0);  // of what was read of `first` and the first j words of `second`
  for (const Words::value_type& word : first) {
    std::size_t diagonal = 0;  // the length before this word, one word of `second` back
    for (std::size_t j = 0; j < second.size(); ++j) {
      const std::size_t before = lengths[j + 1];
      lengths[j + 1] = word == second[j] ? diagonal + 1 : std::max(before, lengths[j]);
      diagonal = before;
    }
  }
  return lengths.back();
}

CaptionMetric rouge_l(std::span<const TokenizedCaption> captions) {
  check_captions(captions, "ROUGE-L");
  CaptionMetric metric;
  for (const TokenizedCaption& caption : captions) {
    metric.images.push_back(score(caption));
    metric.corpus += metric.images.back() / static_cast<double>(captions.size());
  }
  return metric;
}

}  // namespace stein::lm
