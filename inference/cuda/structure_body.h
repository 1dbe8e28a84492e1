// What a block of the kernel of structured weights does: one matrix W = P Λ₁ C Λ₂ Qᵀ of one network, reflection after
// reflection, in the memory that its threads share; and the way back, on which every reflection is undone by itself.
// Phases are put in order by `make_weights` and `pull_back_slopes`, in the kernel and in the tests.
#pragma once

#include <stein/inference/cuda/structure_steps.h>

#include <cmath>
#include <cstdint>

namespace stein::inference::cuda {

inline constexpr int structure_threads = 256;  ///< of a block

/// A block, as each of its threads sees it. X begins as Λ₁ C Λ₂ and ends as W; a row of it takes an odd number of
/// floats, so that threads beside one another read other banks along rows and along columns. G are the slopes of X.
class StructureBlock {
 public:
  /// The matrix of this block, by its places in rows of coordinates and of weights.
  using Matrix = StructurePlaces::Matrix;
  /// On which reflections turn the matrix.
  enum class Side { left, right };

  STEIN_HOST_DEVICE StructureBlock(const StructureLaunch& launch, std::int64_t block, float* shared)
      : launch_(launch),
        index_(static_cast<int>(block % (launch.places.matrices + 1))),
        matrix_(launch.places.matrix[index_ < launch.places.matrices ? index_ : 0]),
        stride_(matrix_.columns | 1),
        network_(block / (launch.places.matrices + 1)),
        from_(launch.coordinates + network_ * launch.coordinate_stride) {
    const int longest = matrix_.rows > matrix_.columns ? matrix_.rows : matrix_.columns;
    const int numbers = matrix_.rows * stride_, partials = longest > structure_threads ? longest : structure_threads;
    x_ = shared;
    g_ = x_ + numbers;
    row_scales_ = launch.gradient != nullptr ? g_ + numbers : g_;
    column_scales_ = row_scales_ + matrix_.rows;
    s_ = column_scales_ + matrix_.columns;
    t_ = s_ + longest;
    partial_ = t_ + longest;
    other_partial_ = partial_ + partials;
    part_sums_ = other_partial_ + partials;
    factor_ = part_sums_ + structure_threads;
  }

  /// Whether it has no matrix, but what is the same in weights and coordinates.
  STEIN_HOST_DEVICE bool is_plain() const { return index_ == launch_.places.matrices; }
  STEIN_HOST_DEVICE int reflectors(Side side) const { return side == Side::left ? matrix_.left : matrix_.right; }

  /// Phase of a block without a matrix: weights from coordinates, or slopes back.
  STEIN_HOST_DEVICE void copy_plain(int thread) const {
    for (int p = 0; p < launch_.places.plains; ++p) {
      const StructurePlaces::Plain& plain = launch_.places.plain[p];
      for (int q = thread; q < plain.count; q += structure_threads) copy_plain_number(launch_, plain, network_, q);
    }
  }

  /// Phases: the scales, then X = Λ₁ C Λ₂.
  STEIN_HOST_DEVICE void load_scales(int thread) const {
    for (int i = thread; i < matrix_.rows; i += structure_threads)
      row_scales_[i] = scale_at(from_, matrix_.log_scale_left, i);
    for (int j = thread; j < matrix_.columns; j += structure_threads)
      column_scales_[j] = scale_at(from_, matrix_.log_scale_right, j);
  }
  STEIN_HOST_DEVICE void load_core(int thread) const {
    for (int item = thread; item < matrix_.rows * matrix_.columns; item += structure_threads) {
      const int i = item / matrix_.columns, j = item % matrix_.columns;
      x_[i * stride_ + j] = row_scales_[i] * from_[matrix_.core + item] * column_scales_[j];
    }
  }

  /// Phase: Σ_a v_a X_ab for every b in parts, and of G where `both`; beside them the parts of ‖v‖².
  STEIN_HOST_DEVICE void project(int thread, Side side, int k, bool both) const {
    const Along along(*this, side);
    const float* const v = reflector(side, k);
    const int parts = parts_of(along.b, along.a);
    for (int item = thread; item < parts * along.b; item += structure_threads) {
      const int b = item % along.b, part = item / along.b;
      float sum = 0, other = 0, square = 0;
      for (int a = part * along.a / parts; a < (part + 1) * along.a / parts; ++a) {
        const int at = a * along.a_stride + b * along.b_stride;
        sum = std::fma(v[a], x_[at], sum);
        if (both) other = std::fma(v[a], g_[at], other);
        if (b == 0) square = std::fma(v[a], v[a], square);
      }
      partial_[item] = sum;
      if (both) other_partial_[item] = other;
      if (b == 0) part_sums_[part] = square;
    }
  }
  /// Phase: the parts, in their order; 2/‖v‖², not a number for a v without direction.
  STEIN_HOST_DEVICE void add_parts(int thread, Side side, bool both) const {
    const Along along(*this, side);
    const int parts = parts_of(along.b, along.a);
    for (int b = thread; b < along.b; b += structure_threads) {
      float sum = 0, other = 0;
      for (int part = 0; part < parts; ++part) {
        sum += partial_[part * along.b + b];
        if (both) other += other_partial_[part * along.b + b];
      }
      s_[b] = sum;
      if (both) t_[b] = other;
    }
    if (thread != structure_threads - 1) return;
    *factor_ = reflection_factor(sum_of_parts(parts));
  }
  /// Phase: X_ab ← X_ab − 2/‖v‖² v_a s_b, which is H(v) X, or X H(v).
  STEIN_HOST_DEVICE void reflect(int thread, Side side, int k) const {
    const float* const v = reflector(side, k);
    for (int item = thread; item < matrix_.rows * matrix_.columns; item += structure_threads) {
      const int i = item / matrix_.columns, j = item % matrix_.columns;
      const int a = side == Side::left ? i : j, b = side == Side::left ? j : i;
      float& x = x_[i * stride_ + j];
      x = std::fma(-*factor_ * v[a], s_[b], x);
    }
  }
  /// Phase: X and G as they were before the reflection, and parts of the slope of v. With f = 2/‖v‖², s = Xᵀv and t =
  /// Gᵀv of before and behind it (there Xᵀv is −s): ∂v = −f (G s + X t − f (t·s) v).
  STEIN_HOST_DEVICE void take_back(int thread, Side side, int k) const {
    const Along along(*this, side);
    const int parts = parts_of(along.a, along.b);
    const float* const v = reflector(side, k);
    const float factor = *factor_;
    for (int item = thread; item < parts * along.a; item += structure_threads) {
      const int a = item % along.a, part = item / along.a;
      float sum = 0, both = 0;
      for (int b = part * along.b / parts; b < (part + 1) * along.b / parts; ++b) {
        const float s = -s_[b], t = t_[b];
        float &x = x_[a * along.a_stride + b * along.b_stride], &g = g_[a * along.a_stride + b * along.b_stride];
        x = std::fma(factor * v[a], s, x);
        sum = std::fma(g, s, std::fma(x, t, sum));
        both = std::fma(s, t, both);
        g = std::fma(-factor * v[a], t, g);
      }
      partial_[item] = sum;
      if (a == 0) part_sums_[part] = both;
    }
  }
  /// Phase: the slope of v from its parts, in their order. A thread takes an element of v.
  STEIN_HOST_DEVICE void add_slope_parts(int thread, Side side, int k) const {
    const Along along(*this, side);
    const int parts = parts_of(along.a, along.b);
    const float* const v = reflector(side, k);
    const float factor = *factor_;
    float* const to =
        gradient() + (side == Side::left ? matrix_.reflectors_left : matrix_.reflectors_right) + k * along.a;
    for (int a = thread; a < along.a; a += structure_threads) {
      float sum = 0;
      for (int part = 0; part < parts; ++part) sum += partial_[part * along.a + a];
      to[a] = -factor * std::fma(-factor * sum_of_parts(parts), v[a], sum);
    }
  }

  /// Phase: W to the memory of the device.
  STEIN_HOST_DEVICE void write_weights(int thread) const {
    for (int item = thread; item < matrix_.rows * matrix_.columns; item += structure_threads)
      weights()[matrix_.weight + item] = x_[item / matrix_.columns * stride_ + item % matrix_.columns];
  }
  /// Phase: G begins as the slopes of W.
  STEIN_HOST_DEVICE void load_slopes(int thread) const {
    for (int item = thread; item < matrix_.rows * matrix_.columns; item += structure_threads)
      g_[item / matrix_.columns * stride_ + item % matrix_.columns] = slopes()[matrix_.weight + item];
  }
  /// Phase: slopes of C and of the scales.
  STEIN_HOST_DEVICE void write_slopes(int thread) const {
    for (int item = thread; item < matrix_.rows * matrix_.columns; item += structure_threads) {
      const int i = item / matrix_.columns, j = item % matrix_.columns;
      gradient()[matrix_.core + item] = row_scales_[i] * g_[i * stride_ + j] * column_scales_[j];
    }
    for (int i = thread; matrix_.log_scale_left >= 0 && i < matrix_.rows; i += structure_threads)
      gradient()[matrix_.log_scale_left + i] = products(i * stride_, 1, matrix_.columns);
    for (int j = thread; matrix_.log_scale_right >= 0 && j < matrix_.columns; j += structure_threads)
      gradient()[matrix_.log_scale_right + j] = products(j, stride_, matrix_.rows);
  }

 private:
  /// How a side sees X: `a` is along its reflectors, `b` across.
  struct Along {
    int a, b, a_stride, b_stride;
    STEIN_HOST_DEVICE Along(const StructureBlock& block, Side side)
        : a(side == Side::left ? block.matrix_.rows : block.matrix_.columns),
          b(side == Side::left ? block.matrix_.columns : block.matrix_.rows),
          a_stride(side == Side::left ? block.stride_ : 1),
          b_stride(side == Side::left ? 1 : block.stride_) {}
  };
  /// Of sums over `length` numbers, `count` of them: as many as a block has threads for, but of about 16 numbers each.
  STEIN_HOST_DEVICE static int parts_of(int count, int length) {
    const int threads = count < structure_threads ? structure_threads / count : 1, most = (length + 15) / 16;
    return threads < most ? threads : most;
  }
  STEIN_HOST_DEVICE const float* reflector(Side side, int k) const {
    return side == Side::left ? from_ + matrix_.reflectors_left + k * matrix_.rows
                              : from_ + matrix_.reflectors_right + k * matrix_.columns;
  }
  STEIN_HOST_DEVICE float* weights() const { return launch_.weights + network_ * launch_.weight_stride; }
  STEIN_HOST_DEVICE const float* slopes() const { return launch_.slopes + network_ * launch_.slope_stride; }
  STEIN_HOST_DEVICE float* gradient() const { return launch_.gradient + network_ * launch_.gradient_stride; }
  /// Parts of ‖v‖², or of t·s, in their order.
  STEIN_HOST_DEVICE float sum_of_parts(int parts) const {
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += part_sums_[part];
    return sum;
  }
  STEIN_HOST_DEVICE float products(int first, int step, int count) const {
    float sum = 0;
    for (int k = 0; k < count; ++k) sum = std::fma(g_[first + k * step], x_[first + k * step], sum);
    return sum;
  }

  const StructureLaunch& launch_;
  int index_;
  const Matrix& matrix_;
  int stride_;
  std::int64_t network_;
  const float* from_;
  float *x_, *g_, *row_scales_, *column_scales_, *s_, *t_, *partial_, *other_partial_, *part_sums_, *factor_;
};

/// X = W, by reflections from the last to the first on either side.
template <class Threads>
STEIN_HOST_DEVICE void reflect_all(const StructureBlock& block, Threads& threads) {
  threads.each([&](int thread) { block.load_scales(thread); });
  threads.each([&](int thread) { block.load_core(thread); });
  for (int turn = 0; turn < 2; ++turn) {
    const auto side = turn == 0 ? StructureBlock::Side::left : StructureBlock::Side::right;
    for (int k = block.reflectors(side) - 1; k >= 0; --k) {
      threads.each([&](int thread) { block.project(thread, side, k, false); });
      threads.each([&](int thread) { block.add_parts(thread, side, false); });
      threads.each([&](int thread) { block.reflect(thread, side, k); });
    }
  }
}

/// The phases of a block that makes weights.
/// @param threads  each(phase) is phase(thread) in every thread of the block, and a barrier after it
template <class Threads>
STEIN_HOST_DEVICE void make_weights(const StructureBlock& block, Threads& threads) {
  if (block.is_plain()) return threads.each([&](int thread) { block.copy_plain(thread); });
  reflect_all(block, threads);
  threads.each([&](int thread) { block.write_weights(thread); });
}

/// The phases of a block that pulls slopes back; weights are made anew for it.
template <class Threads>
STEIN_HOST_DEVICE void pull_back_slopes(const StructureBlock& block, Threads& threads) {
  if (block.is_plain()) return threads.each([&](int thread) { block.copy_plain(thread); });
  reflect_all(block, threads);
  threads.each([&](int thread) { block.load_slopes(thread); });
  for (int turn = 0; turn < 2; ++turn) {
    const auto side = turn == 0 ? StructureBlock::Side::right : StructureBlock::Side::left;
    for (int k = 0; k < block.reflectors(side); ++k) {
      threads.each([&](int thread) { block.project(thread, side, k, true); });
      threads.each([&](int thread) { block.add_parts(thread, side, true); });
      threads.each([&](int thread) { block.take_back(thread, side, k); });
      threads.each([&](int thread) { block.add_slope_parts(thread, side, k); });
    }
  }
  threads.each([&](int thread) { block.write_slopes(thread); });
}

}  // namespace stein::inference::cuda
