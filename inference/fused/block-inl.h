// Blocks of matrices, and their transposition. Included once a target by files that Highway's foreach_target compiles.
#if defined(STEIN_INFERENCE_FUSED_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_BLOCK_INL_H_
#undef STEIN_INFERENCE_FUSED_BLOCK_INL_H_
#else
#define STEIN_INFERENCE_FUSED_BLOCK_INL_H_
#endif

#include <stein/inference/fused/gemm-inl.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

/// Rows of numbers `stride` apart.
template <class T>
struct Rows {
  T* data;
  std::int64_t stride;

  T* row(std::int64_t i) const { return data + i * stride; }
  Rows from_column(std::int64_t j) const { return {data + j, stride}; }
  Rows from_row(std::int64_t i) const { return {row(i), stride}; }
  operator Rows<const T>() const requires(!std::is_const_v<T>) { return {data, stride}; }
};
using Block = Rows<float>;
using ConstBlock = Rows<const float>;

/// to[j, i] = from[i, j] for a matrix of rows × columns.
inline void transpose(ConstBlock from, std::int64_t rows, std::int64_t columns, Block to) {
  std::int64_t whole_rows = 0, whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> d;
  whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (std::int64_t i = 0; i < whole_rows; i += 4) {
    for (std::int64_t j = 0; j < whole_columns; j += 4) {
      const float* const a = from.row(i) + j;
      float* const b = to.row(j) + i;
      const auto row0 = hn::LoadU(d, a), row1 = hn::LoadU(d, a + from.stride);
      const auto row2 = hn::LoadU(d, a + 2 * from.stride), row3 = hn::LoadU(d, a + 3 * from.stride);
      const auto low01 = hn::InterleaveLower(d, row0, row1), low23 = hn::InterleaveLower(d, row2, row3);
      const auto high01 = hn::InterleaveUpper(d, row0, row1), high23 = hn::InterleaveUpper(d, row2, row3);
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, b);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, b + to.stride);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, b + 2 * to.stride);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, b + 3 * to.stride);
    }
  }
#endif
  for (std::int64_t i = 0; i < whole_rows; ++i)
    for (std::int64_t j = whole_columns; j < columns; ++j) to.row(j)[i] = from.row(i)[j];
  for (std::int64_t i = whole_rows; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to.row(j)[i] = from.row(i)[j];
}

/// The same into rows of n numbers, zeros behind.
inline void transpose_padded(ConstBlock from, std::int64_t rows, std::int64_t columns, std::int64_t n, Block to) {
  const FloatTag d;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = rows / lanes * lanes; i < n; i += lanes) hn::StoreU(hn::Zero(d), d, to.row(j) + i);
  transpose(from, rows, columns, to);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
