// Compiled for AVX-512 BF16 whatever the rest is compiled for, and called on processors that have it only: no inline
// function of another header may be in here, or the linker could take it for the others' too.
#include <stein/inference/fused/bfloat16_product.h>

#ifdef __AVX512BF16__
#include <immintrin.h>

namespace stein::inference::fused::bfloat16 {
namespace {

constexpr int most_rows = 6, most_vectors = 4;  // of a tile: 24 sums, and what they are made of, in 32 registers

/// 16 numbers as the lower halves of 32 bits each.
inline __m512i lower_halves(__m512 numbers) {
  return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(numbers)));
}

inline __m512i pairs(__m512 earlier, __m512 later) {
  return _mm512_or_si512(lower_halves(earlier), _mm512_slli_epi32(lower_halves(later), 16));
}

inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : (1u << count) - 1);
}

/// Every `stride`-th number, the first `count` of 16.
inline __m512 strided(const float* from, std::int64_t stride, std::int64_t count) {
  if (stride == 1) return _mm512_maskz_loadu_ps(first_lanes(count), from);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i places = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(static_cast<int>(stride)));
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), first_lanes(count), places, from, 4);
}

/// A tile of R rows and V vectors of C, the last of them masked.
template <int R, int V>
void tile(std::int64_t columns, std::int64_t pair_count, const PairedRows& a, const std::uint32_t* b, float* c,
          std::int64_t c_stride, bool add) {
  const __mmask16 last = first_lanes(columns - (V - 1) * vector_columns);
  __m512 sum[R][V];
  const std::uint32_t* rows[R];
  for (int r = 0; r < R; ++r) {
    rows[r] = a.data + r * a.row;
    for (int v = 0; v < V; ++v)
      sum[r][v] = add ? _mm512_maskz_loadu_ps(v + 1 == V ? last : 0xffff, c + r * c_stride + v * vector_columns)
                      : _mm512_setzero_ps();
  }
  const std::int64_t step = a.pair;
  for (std::int64_t p = 0; p < pair_count; ++p, b += V * vector_columns) {
    __m512bh row[V];
    for (int v = 0; v < V; ++v) row[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + v * vector_columns));
    for (int r = 0; r < R; ++r) {
      const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(*rows[r])));
      rows[r] += step;
      for (int v = 0; v < V; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], factor, row[v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      _mm512_mask_storeu_ps(c + r * c_stride + v * vector_columns, v + 1 == V ? last : 0xffff, sum[r][v]);
}

template <int R, int V>
void rows_of_tile(std::int64_t rows, std::int64_t columns, std::int64_t pair_count, const PairedRows& a,
                  const std::uint32_t* b, float* c, std::int64_t c_stride, bool add) {
  if (rows == R) return tile<R, V>(columns, pair_count, a, b, c, c_stride, add);
  if constexpr (R > 1) rows_of_tile<R - 1, V>(rows, columns, pair_count, a, b, c, c_stride, add);
}

template <int V>
void panel(std::int64_t rows, std::int64_t columns, std::int64_t pair_count, const PairedRows& a,
           const std::uint32_t* b, float* c, std::int64_t c_stride, bool add) {
  for (std::int64_t i = 0; i < rows; i += most_rows) {
    const std::int64_t here = rows - i < most_rows ? rows - i : most_rows;
    rows_of_tile<most_rows, V>(here, columns, pair_count, {a.data + i * a.row, a.row, a.pair}, b, c + i * c_stride,
                               c_stride, add);
  }
}

}  // namespace

bool has_products() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw");
}

void pack_panel(std::int64_t k, std::int64_t columns, const float* from, std::int64_t row, std::int64_t column,
                std::uint32_t* to) {
  const std::int64_t width = padded(columns);
  for (std::int64_t i = 0; i < k; i += 2)
    for (std::int64_t j = 0; j < width; j += vector_columns, to += vector_columns) {
      const float* const here = from + i * row + j * column;
      const __m512 later = i + 1 < k ? strided(here + row, column, columns - j) : _mm512_setzero_ps();
      _mm512_storeu_si512(to, pairs(strided(here, column, columns - j), later));
    }
}

PairedRows pack_rows(std::int64_t rows, std::int64_t k, const float* from, std::int64_t row, std::int64_t column,
                     std::uint32_t* to) {
  const std::int64_t length = pairs_of(k);
  if (column == 1) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t p = 0; p < length; p += 16) {
        const float* const here = from + r * row + 2 * p;
        const std::int64_t left = k - 2 * p;
        const __m512 first = strided(here, 1, left), second = strided(here + 16, 1, left > 16 ? left - 16 : 0);
        _mm512_mask_storeu_epi32(to + r * length + p, first_lanes(length - p),
                                 reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
      }
    return {to, length, 1};
  }
  for (std::int64_t p = 0; p < length; ++p)
    for (std::int64_t r = 0; r < rows; r += 16) {
      const float* const here = from + r * row + 2 * p * column;
      const __m512 later = 2 * p + 1 < k ? strided(here + column, row, rows - r) : _mm512_setzero_ps();
      _mm512_mask_storeu_epi32(to + p * rows + r, first_lanes(rows - r), pairs(strided(here, row, rows - r), later));
    }
  return {to, 1, rows};
}

void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t pair_count, const PairedRows& a,
                    const std::uint32_t* b, float* c, std::int64_t c_stride, bool add) {
  switch (padded(columns) / vector_columns) {
    case 1: return panel<1>(rows, columns, pair_count, a, b, c, c_stride, add);
    case 2: return panel<2>(rows, columns, pair_count, a, b, c, c_stride, add);
    case 3: return panel<3>(rows, columns, pair_count, a, b, c, c_stride, add);
    default: return panel<most_vectors>(rows, columns, pair_count, a, b, c, c_stride, add);
  }
}

}  // namespace stein::inference::fused::bfloat16
#else
namespace stein::inference::fused::bfloat16 {

bool has_products() {
  return false;
}
void pack_panel(std::int64_t, std::int64_t, const float*, std::int64_t, std::int64_t, std::uint32_t*) {}
PairedRows pack_rows(std::int64_t, std::int64_t, const float*, std::int64_t, std::int64_t, std::uint32_t*) {
  return {};
}
void multiply_panel(std::int64_t, std::int64_t, std::int64_t, const PairedRows&, const std::uint32_t*, float*,
                    std::int64_t, bool) {}

}  // namespace stein::inference::fused::bfloat16
#endif
