#include <stein/core/error.h>
#include <stein/inference/models/chunked_model.h>
#include <stein/inference/row_blocks.h>

#include <utility>

namespace stein::inference {

template <class Scalar>
ChunkedModel<Scalar>::ChunkedModel(std::unique_ptr<Model<Scalar>> model, std::int64_t chunks)
    : ForwardingModel<Scalar>(std::move(model)),
      chunks_(chunks),
      driver_(driver<Scalar>(Ensemble{.device = this->model().device()})) {
  STEIN_CHECK(chunks >= 1, "gradient_chunks must be at least 1, got {}", chunks);
  STEIN_CHECK(chunks == 1 || this->layout().buffer_size() == 0,
              "gradient_chunks={} takes minibatches apart, but this network looks at all rows of one together (batch "
              "normalisation): expected gradient_chunks=1, or a network without it",
              chunks);
}

template <class Scalar>
void ChunkedModel<Scalar>::log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                          const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  evaluate({weights, batch, noise, wanted, chunks_of(batch),
            [this](std::int64_t, const auto& rows, const auto& seen, const auto& key, const auto& asked) {
              this->model().log_likelihood(rows, seen, key, asked);
            }});
}

template <class Scalar>
void ChunkedModel<Scalar>::hessian_product(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                           const NoiseKey& noise, MatrixView<const Scalar> vectors,
                                           MatrixView<Scalar> product) {
  Batch<Scalar> unmoved = batch;
  unmoved.inputs.carried.after = {};
  const Evaluation<Scalar> wanted{.gradient = product};
  evaluate({weights, unmoved, noise, wanted, chunks_of(batch),
            [&](std::int64_t first, const auto& rows, const auto& seen, const auto& key, const auto& asked) {
              this->model().hessian_product(rows, seen, key, vectors.block(first, rows.values.rows), asked.gradient);
            }});
}

template <class Scalar>
void ChunkedModel<Scalar>::evaluate(const Call& call) {
  const bool rows_for_all = call.rows() % exchange_->ranks().size() == 0;
  rows_for_all || call.chunks == 1 ? share_rows(call) : share_chunks(call);
}

template <class Scalar>
void ChunkedModel<Scalar>::share_rows(const Call& call) {
  const MatrixView<Scalar> after = call.batch.inputs.carried.after;
  const auto work = [&](distributed::PartRange own) { evaluate_rows(call, own.first, own.end); };
  exchange_->template share<Scalar>(call.rows(), work, [&](std::int64_t row) {
    return left(call, call.wanted.block(row, 1), after.data == nullptr ? after : after.block(row, 1));
  });
}

/// A part is a chunk of a row. The first chunk of each row is found where the sum goes, the others beside one another.
template <class Scalar>
void ChunkedModel<Scalar>::share_chunks(const Call& call) {
  const std::int64_t others = call.chunks - 1, room = call.rows() * others;
  if (call.wanted.wants_gradient() &&
      (gradients_.rows() < room || gradients_.columns() != call.wanted.gradient.columns))
    gradients_ = Matrix<Scalar>(room, call.wanted.gradient.columns, this->device());
  values_.resize(static_cast<std::size_t>(room));
  const auto found = [&](std::int64_t part) {
    const std::int64_t row = part / call.chunks, c = part % call.chunks, place = row * others + c - 1;
    if (c == 0) return call.wanted.block(row, 1);
    Evaluation<Scalar> other;
    if (call.wanted.wants_gradient()) other.gradient = gradients_.view().block(place, 1);
    if (call.wanted.wants_value()) other.value = std::span(values_).subspan(static_cast<std::size_t>(place), 1);
    return other;
  };
  const auto work = [&](distributed::PartRange own) {
    const auto space = scratch_.borrow([] { return std::make_unique<Scratch>(); });
    for (std::int64_t part = own.first; part < own.end; ++part)
      evaluate_chunk(call, part / call.chunks, part % call.chunks, space->state, found(part));
  };
  exchange_->template share_sums<Scalar>(
      call.rows(), call.chunks, work,
      [&](std::int64_t part) {
        return left(call, found(part), state_after(call, part / call.chunks, part % call.chunks));
      },
      [&](std::span<const Scalar> term, std::span<Scalar> sum) { add_numbers(term, sum); });
  for (std::int64_t row = 0; row < call.rows(); ++row)
    for (std::int64_t c = 1; c < call.chunks; ++c) add_value(found(row * call.chunks + c), found(row * call.chunks));
}

template <class Scalar>
PartNumbers<Scalar> ChunkedModel<Scalar>::left(const Call& call, const Evaluation<Scalar>& found,
                                               MatrixView<Scalar> after) const {
  return {.values = found.value,
          .tensors = {PlacedRows<Scalar>{found.gradient, this->device()},
                      PlacedRows<Scalar>{after, call.batch.inputs.carried.device}}};
}

template <class Scalar>
void ChunkedModel<Scalar>::evaluate_rows(const Call& call, std::int64_t first, std::int64_t end) {
  const bool one_by_one = call.chunks > 1 || call.batch.weight_samples > 1;
  const auto evaluate = [&](std::int64_t from, std::int64_t to) {
    const std::int64_t row = first + from, count = to - from;
    if (call.chunks > 1) return add_chunks(call, row);
    const Batch<Scalar> seen = one_by_one ? rows_of(call.batch, row) : share_of(call.batch, row, count);
    call.evaluate(row, call.weights.block(row, count), seen, call.noise, call.wanted.block(row, count));
  };
  if (end > first) for_each_block(this->model(), call.batch, end - first, evaluate, one_by_one ? 1 : 0);
}

template <class Scalar>
void ChunkedModel<Scalar>::add_chunks(const Call& call, std::int64_t row) {
  const auto space = scratch_.borrow([] { return std::make_unique<Scratch>(); });
  const Evaluation<Scalar> sum = call.wanted.block(row, 1);
  evaluate_chunk(call, row, 0, space->state, sum);
  double value = 0;
  Evaluation<Scalar> next;
  if (sum.wants_value()) next.value = std::span(&value, 1);
  if (sum.wants_gradient()) {
    if (space->gradient.columns() != sum.gradient.columns)
      space->gradient = Matrix<Scalar>(1, sum.gradient.columns, this->device());
    next.gradient = space->gradient.view();
  }
  for (std::int64_t c = 1; c < call.chunks; ++c) {
    evaluate_chunk(call, row, c, space->state, next);
    if (sum.wants_gradient()) add_numbers(next.gradient.row(0), sum.gradient.row(0));
    add_value(next, sum);
  }
}

template <class Scalar>
void ChunkedModel<Scalar>::evaluate_chunk(const Call& call, std::int64_t row, std::int64_t c, ChunkState<Scalar>& state,
                                          const Evaluation<Scalar>& wanted) {
  const Batch<Scalar> whole = rows_of(call.batch, row);
  const ChunkRows rows = chunk_rows(whole.rows, call.chunks, c);
  const std::int64_t blocks = this->carried_blocks();
  Batch<Scalar> chunk = chunk_of(whole, rows);
  chunk.inputs.carried = state.take(whole.inputs.carried, blocks, whole.rows, rows);
  call.evaluate(row, call.weights.block(row, 1), chunk, chunk_noise(call.noise, c), wanted);
  state.give_back(whole.inputs.carried, blocks, whole.rows, rows);
}

template <class Scalar>
void ChunkedModel<Scalar>::add_numbers(std::span<const Scalar> term, std::span<Scalar> sum) const {
  driver_.subtract_scaled(term, Scalar{-1}, sum, nullptr);
}

template <class Scalar>
void ChunkedModel<Scalar>::add_value(const Evaluation<Scalar>& term, const Evaluation<Scalar>& sum) const {
  if (sum.wants_value()) sum.value[0] += term.value[0];
}

template <class Scalar>
MatrixView<Scalar> ChunkedModel<Scalar>::state_after(const Call& call, std::int64_t row, std::int64_t c) const {
  const MatrixView<Scalar> after = call.batch.inputs.carried.after;
  const std::int64_t rows = call.batch.rows;
  if (after.data == nullptr) return {};
  return state_of(after.row(row), this->carried_blocks(), rows, chunk_rows(rows, call.chunks, c));
}

template class ChunkedModel<float>;
template class ChunkedModel<double>;

}  // namespace stein::inference
