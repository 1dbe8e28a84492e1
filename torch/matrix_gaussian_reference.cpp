#include <stein/core/error.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/torch/matrix_gaussian_reference.h>
#include <stein/torch/tensor_view.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace stein::inference {
namespace {

/// X H(v_K) … H(v₁) for X [M, n, d] and reflectors V [M, K, d] as X − C V, all reflections at once: column k of C is
/// what H(v_k) takes away, c_k ‖v_k‖²/2 = X v_k − Σ_{j>k} c_j (v_j·v_k), a triangular system.
at::Tensor reflect_rows(const at::Tensor& x, const at::Tensor& reflectors) {
  const at::Tensor transposed = reflectors.transpose(1, 2), products = reflectors.bmm(transposed);
  const at::Tensor triangle = products.tril(-1) + at::diag_embed(products.diagonal(0, 1, 2) / 2);
  const at::Tensor c = at::linalg_solve_triangular(triangle, x.bmm(transposed), /*upper=*/false, /*left=*/false);
  return at::baddbmm(x, c, reflectors, 1, -1);
}

/// A leaf of the graph: the parameter `entry` of every row, [M, rows, columns].
template <class Scalar>
at::Tensor leaf(MatrixView<const Scalar> coordinates, const LayoutEntry& entry) {
  return entry_view(coordinates, entry).set_requires_grad(true);
}

template <class Scalar>
void check_rows(MatrixView<const Scalar> coordinates, const Layout& coordinate_layout, std::int64_t weight_rows,
                std::int64_t weight_columns, const Layout& weight_layout) {
  STEIN_CHECK(coordinates.columns >= coordinate_layout.size() && weight_columns == weight_layout.size() &&
                  coordinates.rows == weight_rows,
              "structured weights: expected coordinates [m, {}] and weights [m, {}], got [{}, {}] and [{}, {}]",
              coordinate_layout.size(), weight_layout.size(), coordinates.rows, coordinates.columns, weight_rows,
              weight_columns);
}

}  // namespace

/// The parts of some rows of particles and the weight matrices that came of them, in the order of the matrices.
template <class Scalar>
struct MatrixGaussianReference<Scalar>::Graph {
  std::vector<at::Tensor> leaves{};
  std::vector<LayoutEntry> leaf_entries{};
  std::vector<at::Tensor> weights{};
};

template <class Scalar>
MatrixGaussianReference<Scalar>::MatrixGaussianReference(Layout weights, const MatrixGaussianOptions& options)
    : layout_(matrix_gaussian_layout(std::move(weights), options)) {}

template <class Scalar>
MatrixGaussianReference<Scalar>::~MatrixGaussianReference() = default;

template <class Scalar>
struct MatrixGaussianReference<Scalar>::Kept final : ForwardTrace {
  std::unique_ptr<const Graph> graph;
};

template <class Scalar>
std::unique_ptr<ForwardTrace> MatrixGaussianReference<Scalar>::make_trace() const {
  return std::make_unique<Kept>();
}

template <class Scalar>
std::unique_ptr<const typename MatrixGaussianReference<Scalar>::Graph> MatrixGaussianReference<Scalar>::graph(
    MatrixView<const Scalar> coordinates) const {
  const c10::AutoGradMode with_gradient(true);
  auto graph = std::make_unique<Graph>();
  const auto part = [&](const LayoutEntry& entry) {
    graph->leaves.push_back(leaf(coordinates, entry));
    graph->leaf_entries.push_back(entry);
    return graph->leaves.back();
  };
  for (const StructuredMatrix& matrix : layout_.matrices) {
    at::Tensor weight = part(matrix.core);
    if (matrix.log_scale_left) weight = weight * part(*matrix.log_scale_left).transpose(1, 2).exp();
    if (matrix.log_scale_right) weight = weight * part(*matrix.log_scale_right).exp();
    if (matrix.reflectors_right) weight = reflect_rows(weight, part(*matrix.reflectors_right));
    if (matrix.reflectors_left)  // P X = (Xᵀ Pᵀ)ᵀ
      weight = reflect_rows(weight.transpose(1, 2), part(*matrix.reflectors_left)).transpose(1, 2);
    graph->weights.push_back(weight);
  }
  return graph;
}

template <class Scalar>
void MatrixGaussianReference<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey&,
                                              MatrixView<Scalar> weights, ForwardTrace& trace) const {
  check_rows(coordinates.values, layout_.coordinates, weights.rows, weights.columns, layout_.weights);
  Kept& kept = dynamic_cast<Kept&>(trace);
  kept.graph = graph(coordinates.values);

  const c10::NoGradGuard no_gradient;
  if (layout_.weights.padded())
    for (std::int64_t i = 0; i < weights.rows; ++i) std::ranges::fill(weights.row(i), Scalar(0));
  for (const PlainParameter& parameter : layout_.plain)
    entry_view(weights, parameter.weight).copy_(entry_view(coordinates.values, parameter.coordinate));
  for (std::size_t i = 0; i < layout_.matrices.size(); ++i)
    entry_view(weights, layout_.matrices[i].weight).copy_(kept.graph->weights[i]);
}

template <class Scalar>
void MatrixGaussianReference<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey&,
                                               MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                                               ForwardTrace& trace) const {
  check_rows(coordinates.values, layout_.coordinates, weight_gradient.rows, weight_gradient.columns, layout_.weights);
  const Graph& made = *dynamic_cast<Kept&>(trace).graph;
  for (const PlainParameter& parameter : layout_.plain)
    entry_view(gradient, parameter.coordinate).copy_(entry_view(weight_gradient, parameter.weight));
  if (layout_.matrices.empty()) return;
  std::vector<at::Tensor> weight_gradients;
  for (const StructuredMatrix& matrix : layout_.matrices)
    weight_gradients.push_back(entry_view(weight_gradient, matrix.weight));
  const std::vector<at::Tensor> gradients =
      torch::autograd::grad(made.weights, made.leaves, weight_gradients, /*retain_graph=*/true);
  const c10::NoGradGuard no_gradient;
  for (std::size_t i = 0; i < gradients.size(); ++i) entry_view(gradient, made.leaf_entries[i]).copy_(gradients[i]);
}

template <class Scalar>
void MatrixGaussianReference<Scalar>::initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

template class MatrixGaussianReference<float>;
template class MatrixGaussianReference<double>;

}  // namespace stein::inference
