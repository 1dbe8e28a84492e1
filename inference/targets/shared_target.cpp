#include <stein/distributed/shared_work.h>
#include <stein/inference/targets/shared_target.h>

#include <cstdint>
#include <string>
#include <string_view>

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
  const auto write = [&](std::int64_t row, std::string& message) {
    if (wanted.wants_gradient()) distributed::write_numbers<Scalar>(wanted.gradient.row(row), message);
    if (wanted.wants_value())
      distributed::write_numbers<double>(wanted.value.subspan(static_cast<std::size_t>(row), 1), message);
  };
  const auto read = [&](std::int64_t row, std::string_view& message) {
    if (wanted.wants_gradient()) distributed::read_numbers<Scalar>(message, wanted.gradient.row(row));
    if (wanted.wants_value())
      distributed::read_numbers<double>(message, wanted.value.subspan(static_cast<std::size_t>(row), 1));
  };
  distributed::share_work(ranks_, coordinates.values.rows, own_rows, write, read);
}

template class SharedTarget<float>;
template class SharedTarget<double>;

}  // namespace stein::inference
