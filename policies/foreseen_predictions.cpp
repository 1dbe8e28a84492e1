#include <stein/core/error.h>
#include <stein/policies/foreseen_predictions.h>

#include <algorithm>

namespace stein::policies {
namespace {

using inference::Inputs;
using inference::MatrixView;

template <class Number>
void append(MatrixView<const Number> rows, std::vector<Number>& to) {
  for (std::int64_t i = 0; i < rows.rows; ++i) to.insert(to.end(), rows.row(i).begin(), rows.row(i).end());
}

template <class Number>
bool equal(MatrixView<const Number> rows, const Number* kept) {
  for (std::int64_t i = 0; i < rows.rows; ++i)
    if (!std::ranges::equal(rows.row(i), std::span(kept + i * rows.columns, static_cast<std::size_t>(rows.columns))))
      return false;
  return true;
}

}  // namespace

void ForeseenPredictions::add(const Inputs<float>& rows) {
  const std::int64_t width = rows.one_hot() ? rows.ones.columns : rows.dense.columns;
  constexpr std::int64_t most_contexts = 4096;  // that wait: nobody may ever ask, as where arms are pulled by force
  if (outputs_ > 0 || std::ssize(begins_) == most_contexts) forget();
  if (begins_.empty()) {
    dense_.clear(), ones_.clear();
    rows_ = 0, width_ = width, last_ = 0;
  }
  STEIN_CHECK(width == width_, "foreseen contexts: expected rows of {} numbers, got {}", width_, width);
  begins_.push_back(rows_);
  rows_ += rows.rows();
  if (rows.one_hot())
    append(rows.ones, ones_);
  else
    append(rows.dense, dense_);
}

Inputs<float> ForeseenPredictions::inputs() const {
  Inputs<float> all;
  if (ones_.empty())
    all.dense = {dense_.data(), rows_, width_};
  else
    all.ones = {ones_.data(), rows_, width_};
  return all;
}

std::optional<MatrixView<const float>> ForeseenPredictions::find(const Inputs<float>& rows, std::int64_t first,
                                                                 std::int64_t count) {
  if (outputs_ == 0) return {};
  for (std::size_t k = last_; k < begins_.size(); ++k) {
    if (!holds(rows, begins_[k])) continue;
    last_ = k;
    return MatrixView<const float>(answers_.data() + (first * rows_ + begins_[k]) * outputs_, count,
                                   rows.rows() * outputs_, rows_ * outputs_);
  }
  return {};
}

bool ForeseenPredictions::holds(const Inputs<float>& rows, std::int64_t begin) const {
  if (begin + rows.rows() > rows_) return false;
  return rows.one_hot() ? equal(rows.ones, ones_.data() + begin * width_)
                        : equal(rows.dense, dense_.data() + begin * width_);
}

}  // namespace stein::policies
