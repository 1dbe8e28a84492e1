#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/saved_weights.h>
#include <stein/inference/storage/saved_rows.h>

#include <utility>

namespace stein::inference {

template <class Scalar>
void save_weights(Snapshot& snapshot, std::string_view name, const Layout& layout, const Matrix<Scalar>& weights) {
  const Matrix<Scalar> host = weights.to({});
  Matrix<Scalar> packed(host.rows(), layout.coordinate_count());
  remove_padding<Scalar>(layout, host.view(), packed.view());
  packed.save(snapshot, name);
}

template <class Scalar>
void restore_weights(const Snapshot& snapshot, std::string_view name, const Layout& layout, Matrix<Scalar>& weights) {
  Matrix<Scalar> host(weights.rows(), weights.columns());
  const bool with_padding = snapshot.size_of(name) == static_cast<std::size_t>(host.rows() * host.columns());
  if (with_padding) {
    restore_rows(snapshot, name, host.view());
  } else {
    Matrix<Scalar> packed(host.rows(), layout.coordinate_count());
    restore_rows(snapshot, name, packed.view());  // of this size only, whatever the room between rows
    add_padding<Scalar>(layout, std::as_const(packed).view(), host.view());
  }
  weights = host.to(weights.device());
}

template void save_weights(Snapshot&, std::string_view, const Layout&, const Matrix<float>&);
template void save_weights(Snapshot&, std::string_view, const Layout&, const Matrix<double>&);
template void restore_weights(const Snapshot&, std::string_view, const Layout&, Matrix<float>&);
template void restore_weights(const Snapshot&, std::string_view, const Layout&, Matrix<double>&);

}  // namespace stein::inference
