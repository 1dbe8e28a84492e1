// A model of captions whose probabilities are a table: the next word hangs on the image and the last word.
#pragma once

#include <stein/core/rng.h>
#include <stein/lm/captioning/caption_vocabulary.h>
#include <stein/lm/captioning/next_words.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace stein::test {

class WordChain final : public lm::NextWords {
 public:
  /// @param words  besides the three tokens that are none
  WordChain(std::int64_t words, std::int64_t images)
      : size_(words + lm::unknown_token + 1), table_(static_cast<std::size_t>(images * size_ * size_)) {}

  static WordChain random(std::int64_t words, std::int64_t images, std::int64_t rows) {
    WordChain chain(words, images);
    chain.room = rows;
    Draws draws({.seed = 11}, 0);
    for (std::size_t row = 0; row < chain.table_.size() / static_cast<std::size_t>(chain.size_); ++row) {
      double sum = 0;
      std::vector<double> numbers;
      for (std::int64_t k = 0; k < chain.size_; ++k) sum += numbers.emplace_back(draws.gamma(0.7));
      for (std::size_t k = 0; k < numbers.size(); ++k)
        chain.table_[row * numbers.size() + k] = static_cast<float>(numbers[k] / sum);
    }
    return chain;
  }

  void set(std::int64_t image, std::int32_t last, const std::map<std::int32_t, float>& next) {
    for (const auto& [token, probability] : next)
      table_[static_cast<std::size_t>((image * size_ + last) * size_ + token)] = probability;
  }
  std::span<const float> next(std::int64_t image, std::int32_t last) const {
    return std::span(table_).subspan(static_cast<std::size_t>((image * size_ + last) * size_),
                                     static_cast<std::size_t>(size_));
  }

  std::int64_t vocabulary() const override { return size_; }
  std::int64_t most_rows() const override { return room; }
  void begin(std::span<const std::int64_t> image_rows) override {
    images_.assign(image_rows.begin(), image_rows.end());
    const std::vector<std::int32_t> starts(images_.size(), lm::start_token);
    fill(starts);
  }
  void read(std::span<const std::int64_t> parents, std::span<const std::int32_t> tokens) override {
    std::vector<std::int64_t> images;
    for (const std::int64_t parent : parents) images.push_back(images_[static_cast<std::size_t>(parent)]);
    images_ = images;
    fill(tokens);
  }
  inference::MatrixView<const float> probabilities() const override {
    return {numbers_.data(), std::ssize(images_), size_};
  }

  std::int64_t room = 10;  ///< most rows

 private:
  void fill(std::span<const std::int32_t> last) {
    numbers_.clear();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const std::span<const float> row = next(images_[i], last[i]);
      numbers_.insert(numbers_.end(), row.begin(), row.end());
    }
  }

  std::int64_t size_;
  std::vector<float> table_;  ///< [images, last word, next word]
  std::vector<std::int64_t> images_{};
  std::vector<float> numbers_{};
};

}  // namespace stein::test
