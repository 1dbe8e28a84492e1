// Structured weights W = P Λ₁ C Λ₂ Qᵀ by products of matrices, for those that the threads of a block cannot share: what
// is multiplied, in order. For the driver of GPUs and for the tests.
//
// Compact WY (Schreiber & Van Loan 1989), as on the host (fused/structured_matrix-inl.h): P = I − V T Vᵀ, Q = I − Y S
// Yᵀ. A product has no sign, so the triangles are kept as t = −T and s = −S, and with A = Λ₁ C Λ₂
//   z = t VᵀA,  B = A + V z,  r = (B Y) sᵀ,  W = B + r Yᵀ.
// Back from the slopes G of W, with mirror(X) the upper triangle of X, mirrored:
//   n = (G Y) s,      ∂Yᵀ = rᵀG + nᵀB + mirror(nᵀr) Yᵀ,  F = G + n Yᵀ, the slopes of B,
//   o = tᵀ (VᵀF),     ∂Vᵀ = z Fᵀ + o Aᵀ + mirror(o zᵀ) Vᵀ,  ∂A = F + V o.
// The last terms are the ways through T⁻¹ and S⁻¹. B is not kept: nᵀB = nᵀA + (nᵀV) z.
#pragma once

#include <stein/inference/cuda/structure_product_bodies.h>
#include <stein/inference/models/batched_product.h>

#include <cstdint>

namespace stein::inference::cuda {

/// One matrix of all networks of a launch that has memory for it.
/// @tparam Work  what computes: multiply(product), and each(count, body), which is body(0), …, body(count − 1)
template <class Work>
class StructureProducts {
 public:
  /// @param number  of the matrix
  StructureProducts(const StructureLaunch& launch, int number, Work& work)
      : launch_(launch), number_(number), matrix_(launch.places.matrix[number]), work_(work) {
    const int p = matrix_.rows, d = matrix_.columns, k = matrix_.left, l = matrix_.right;
    float* next = launch.kept;
    for (int m = 0; m < number; ++m) next += launch.networks * launch.places.matrix[m].kept_floats();
    a_ = take(next, p, d), z_ = take(next, k, d), r_ = take(next, p, l), t_ = take(next, k, k), s_ = take(next, l, l);
    next = launch.working;
    f_ = take(next, p, d), right_ = take(next, p, l), n_ = take(next, p, l), left_ = take(next, k, d),
    o_ = take(next, k, d), square_ = next;
  }

  void make_weights() const {
    const int p = matrix_.rows, d = matrix_.columns, k = matrix_.left, l = matrix_.right;
    work_.each(launch_.networks * matrix_.numbers(), ScaledCore{launch_, number_, a_.data});
    const Numbers w{.data = launch_.weights + matrix_.weight, .stride = d, .step = launch_.weight_stride};
    if (k > 0) {
      invert_triangle(v_rows(), k, p, t_);
      multiply(k, d, p, v_rows(), read(a_), left_);
      multiply(k, d, k, read(t_), read(left_), z_);
      add(p, d, k, turned(v_rows()), read(z_), w);
    }
    if (l > 0) {
      invert_triangle(y_rows(), l, d, s_);
      multiply(p, l, d, read(w), turned(y_rows()), right_);
      multiply(p, l, l, read(right_), turned(read(s_)), r_);
      add(p, d, l, read(r_), y_rows(), w);
    }
  }

  /// After `make_weights` from the same coordinates in the same memory.
  void pull_back_slopes() const {
    work_.each(launch_.networks * matrix_.numbers(), TakeSlope{launch_, number_, f_.data});
    if (matrix_.right > 0) pull_right();
    if (matrix_.left > 0) pull_left();
    work_.each(launch_.networks * matrix_.numbers(), CoreSlope{launch_, number_, f_.data});
    if (matrix_.log_scale_left >= 0) pull_scales(matrix_.log_scale_left, matrix_.rows, matrix_.columns, true);
    if (matrix_.log_scale_right >= 0) pull_scales(matrix_.log_scale_right, matrix_.columns, matrix_.rows, false);
  }

 private:
  using Numbers = ProductMatrix<float>;
  using Factor = ProductMatrix<const float>;

  /// Room for a matrix of every network.
  Numbers take(float*& next, int rows, int columns) const {
    const Numbers taken{.data = next, .stride = columns, .step = std::int64_t{rows} * columns};
    next += launch_.networks * taken.step;
    return taken;
  }
  static Factor read(const Numbers& matrix) { return {matrix.data, matrix.stride, matrix.step}; }
  static Factor turned(Factor factor) {
    factor.turned = true;
    return factor;
  }
  /// Vᵀ and Yᵀ, as they lie among the coordinates.
  Factor v_rows() const { return reflectors(matrix_.reflectors_left, matrix_.rows); }
  Factor y_rows() const { return reflectors(matrix_.reflectors_right, matrix_.columns); }
  Factor reflectors(int first, int length) const {
    return {launch_.coordinates + first, length, launch_.coordinate_stride};
  }
  Numbers slopes_at(int first, int length) const {
    return {.data = launch_.gradient + first, .stride = length, .step = launch_.gradient_stride};
  }
  Numbers square(int columns, int rows) const {
    return {.data = square_, .stride = columns, .step = std::int64_t{rows} * columns};
  }

  void multiply(int rows, int columns, int inner, const Factor& a, const Factor& b, const Numbers& c,
                bool adds = false) const {
    work_.multiply({.count = launch_.networks,
                    .rows = rows,
                    .columns = columns,
                    .inner = inner,
                    .a = a,
                    .b = b,
                    .c = c,
                    .adds = adds});
  }
  void add(int rows, int columns, int inner, const Factor& a, const Factor& b, const Numbers& c) const {
    multiply(rows, columns, inner, a, b, c, true);
  }

  void invert_triangle(const Factor& reflector_rows, int k, int length, const Numbers& to) const {
    multiply(k, k, length, reflector_rows, turned(reflector_rows), square(k, k));
    work_.each(launch_.networks * k, InvertTriangle{square_, k, to.data});
  }
  /// Adds mirror(X) · reflectors to the slopes of these, X being what the square is.
  void add_mirrored(int k, int length, const Factor& reflector_rows, const Numbers& slopes) const {
    work_.each(launch_.networks * k * k, MirrorUpper{square_, k});
    add(k, length, k, read(square(k, k)), reflector_rows, slopes);
  }

  void pull_right() const {
    const int p = matrix_.rows, d = matrix_.columns, k = matrix_.left, l = matrix_.right;
    const Factor g{launch_.slopes + matrix_.weight, d, launch_.slope_stride};
    const Numbers slopes = slopes_at(matrix_.reflectors_right, d);
    multiply(p, l, d, g, turned(y_rows()), right_);
    multiply(p, l, l, read(right_), read(s_), n_);
    multiply(l, d, p, turned(read(r_)), g, slopes);
    add(l, d, p, turned(read(n_)), read(a_), slopes);
    if (k > 0) {
      multiply(l, k, p, turned(read(n_)), turned(v_rows()), square(k, l));
      add(l, d, k, read(square(k, l)), read(z_), slopes);
    }
    multiply(l, l, p, turned(read(n_)), read(r_), square(l, l));
    add_mirrored(l, d, y_rows(), slopes);
    add(p, d, l, read(n_), y_rows(), f_);
  }

  void pull_left() const {
    const int p = matrix_.rows, d = matrix_.columns, k = matrix_.left;
    const Numbers slopes = slopes_at(matrix_.reflectors_left, p);
    multiply(k, d, p, v_rows(), read(f_), left_);
    multiply(k, d, k, turned(read(t_)), read(left_), o_);
    multiply(k, p, d, read(z_), turned(read(f_)), slopes);
    add(k, p, d, read(o_), turned(read(a_)), slopes);
    multiply(k, k, d, read(o_), turned(read(z_)), square(k, k));
    add_mirrored(k, p, v_rows(), slopes);
    add(p, d, k, turned(v_rows()), read(o_), f_);
  }

  void pull_scales(int first, int count, int length, bool rows) const {
    work_.each(launch_.networks * count, ScaleSlope{.a = a_.data,
                                                    .slopes = f_.data,
                                                    .numbers = matrix_.numbers(),
                                                    .count = count,
                                                    .length = length,
                                                    .step = rows ? 1 : matrix_.columns,
                                                    .next = rows ? matrix_.columns : 1,
                                                    .gradient = launch_.gradient + first,
                                                    .gradient_stride = launch_.gradient_stride});
  }

  const StructureLaunch& launch_;
  int number_;
  const StructurePlaces::Matrix& matrix_;
  Work& work_;
  Numbers a_, z_, r_, t_, s_;         ///< kept for the way back
  Numbers f_, right_, n_, left_, o_;  ///< F; B Y or G Y; n; VᵀA or VᵀF; o
  float* square_;                     ///< products of reflectors, of either side
};

/// All matrices of a launch with memory for products, and what is no matrix.
template <class Work>
void pass_structure_products(const StructureLaunch& launch, Work& work) {
  for (int m = 0; m < launch.places.matrices; ++m) {
    const StructureProducts<Work> products(launch, m, work);
    if (launch.gradient != nullptr)
      products.pull_back_slopes();
    else
      products.make_weights();
  }
  for (int number = 0; number < launch.places.plains; ++number)
    work.each(launch.networks * launch.places.plain[number].count, CopyPlain{launch, number});
}

}  // namespace stein::inference::cuda
