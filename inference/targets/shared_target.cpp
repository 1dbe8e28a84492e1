#include <stein/inference/targets/shared_target.h>

#include <cstdint>

namespace stein::inference {

template <class Scalar>
void SharedTarget<Scalar>::evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                                    const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const auto own_rows = [&](distributed::PartRange own) {
    const std::int64_t first = own.first, count = own.end - own.first;
    if (count == 0) return;
    this->target().evaluate(coordinates.block(first, count), share_of(batch, first, count), noise,
                            wanted.block(first, count));
  };
  exchange_.share<Scalar>(coordinates.values.rows, own_rows, [&](std::int64_t row) {
    const Evaluation<Scalar> of_row = wanted.block(row, 1);
    return PartNumbers<Scalar>{.values = of_row.value,
                               .tensors = {PlacedRows<Scalar>{of_row.gradient, exchange_.device()}}};
  });
}

template class SharedTarget<float>;
template class SharedTarget<double>;

}  // namespace stein::inference
