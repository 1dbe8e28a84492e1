// What both drivers of the structured parameterization share: its options and the layout of its coordinates.
//
// Zhang, Li, Chen, Carin, "Learning structural weight uncertainty for sequential decision-making", AISTATS 2018: a
// weight matrix W = P Λ₁ C Λ₂ Qᵀ with P = H(v₁) … H(v_K), Q = H(w₁) … H(w_K), H(v) = I − 2vvᵀ/‖v‖². With C of
// independent unit normals W is matrix-variate Gaussian, vec W ~ N(0, V ⊗ U), U = PΛ₁²Pᵀ, V = QΛ₂²Qᵀ.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/layout.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::inference {

/// Whether Λ₁ and Λ₂ are coordinates or ones.
enum class Scales { free, identity };

/// Size of the structured parameterization. No reflectors and `Scales::identity` is the network's weights themselves;
/// no reflectors and `Scales::free` is the diagonal form (Louizos & Welling 2016).
struct MatrixGaussianOptions {
  std::int64_t reflectors = 8;  ///< K a side; a side of n rows or columns has min(K, n), and none if n = 1
  Scales scales = Scales::free;

  template <class V>
  void describe(V& v) {
    v("reflectors", reflectors, "Householder reflections on each side of a weight matrix, at most its size",
      between(0, 4096));
    v("scales", scales, "free: log scales of rows and columns are sampled; identity: they are absent",
      {{"free", Scales::free}, {"identity", Scales::identity}});
  }
};

/// One weight matrix [p, d] and the places of its parts among the coordinates; the sides that are absent are empty.
struct StructuredMatrix {
  LayoutEntry weight{};                           ///< W in the weights, its rows perhaps padded
  LayoutEntry core{};                             ///< C [p, d]
  std::optional<LayoutEntry> log_scale_left{};    ///< log diag Λ₁ [p]
  std::optional<LayoutEntry> log_scale_right{};   ///< log diag Λ₂ [d]
  std::optional<LayoutEntry> reflectors_left{};   ///< v₁ … v_K [min(K, p), p]
  std::optional<LayoutEntry> reflectors_right{};  ///< w₁ … w_K [min(K, d), d]
};

/// A parameter that is the same in weights and coordinates: a bias, a precision, a matrix without parts.
struct PlainParameter {
  LayoutEntry weight;
  LayoutEntry coordinate;
};

/// The structured parameterization of one network.
struct MatrixGaussianLayout {
  Layout weights{};
  Layout coordinates{};
  std::vector<StructuredMatrix> matrices{};
  std::vector<PlainParameter> plain{};
};

/// Every two-dimensional Role::weight entry `a.weight` becomes `a.weight` (C), `a.log_scale_left`, `a.log_scale_right`,
/// `a.reflectors_left`, `a.reflectors_right`; every other entry is passed through. Coordinates have no padding.
///
/// With equal reflectors on a side H(v)^K is I or H(v): K columns then act as none or one. Start them at random.
/// Throws Error(usage) if options are out of range.
MatrixGaussianLayout matrix_gaussian_layout(Layout weights, const MatrixGaussianOptions& options);

}  // namespace stein::inference
