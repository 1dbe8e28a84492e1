#include <stein/training/row_classifier.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace stein::training {
namespace {

constexpr std::int64_t rows_of_piece = 256;  ///< that are predicted together

}  // namespace

RowClassifier::RowClassifier(LabelledRows& rows, std::int64_t at_most)
    : rows_(rows), chosen_(static_cast<std::size_t>(std::min(rows.count(), at_most))), by_length_(chosen_.size()) {
  for (std::size_t i = 0; i < chosen_.size(); ++i)
    chosen_[i] = static_cast<std::int64_t>(i) * rows.count() / std::ssize(chosen_);
  std::iota(by_length_.begin(), by_length_.end(), std::size_t{0});
  std::ranges::stable_sort(by_length_, {}, [this](std::size_t i) { return rows_.length(chosen_[i]); });
}

std::vector<std::int64_t> RowClassifier::labels() const {
  std::vector<std::int64_t> labels;
  labels.reserve(chosen_.size());
  for (const std::int64_t row : chosen_) labels.push_back(rows_.label(row));
  return labels;
}

void RowClassifier::add_sample(inference::Model<float>& model, const WeightDraws::Draw& draw, SampledClasses& to) {
  const std::int64_t classes = model.output_count();
  logits_.resize(chosen_.size() * static_cast<std::size_t>(classes));
  for (std::size_t begin = 0; begin < chosen_.size(); begin += rows_of_piece) {
    const std::span<const std::size_t> places =
        std::span(by_length_).subspan(begin, std::min<std::size_t>(rows_of_piece, chosen_.size() - begin));
    piece_.clear();
    for (const std::size_t i : places) piece_.push_back(chosen_[i]);
    inference::Inputs<float> inputs = rows_.inputs(piece_);
    inputs.dropout = piece_key(draw.dropout, static_cast<std::int64_t>(begin) / rows_of_piece);
    piece_logits_.resize(places.size() * static_cast<std::size_t>(classes));
    const inference::MatrixView<float> outputs{piece_logits_.data(), std::ssize(places), classes};
    model.predict(draw.weights, inputs, outputs);
    for (std::int64_t i = 0; i < outputs.rows; ++i)
      std::ranges::copy(outputs.row(i),
                        logits_.begin() + static_cast<std::ptrdiff_t>(places[static_cast<std::size_t>(i)]) * classes);
  }
  to.add({logits_.data(), count(), classes});
}

SampledClasses RowClassifier::classify(inference::Model<float>& model, WeightDraws& draws) {
  SampledClasses samples(labels(), model.output_count());
  for (std::int64_t k = 0; k < draws.count(); ++k) add_sample(model, draws.get(k), samples);
  return samples;
}

}  // namespace stein::training
