// A model that takes minibatches apart, and whose work ranks share.
#pragma once

#include <stein/core/pool.h>
#include <stein/inference/models/batch_chunk.h>
#include <stein/inference/models/forwarding_model.h>
#include <stein/inference/models/part_exchange.h>
#include <stein/inference/samplers/driver.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace stein::inference {

/// Another model, whose log-likelihood of a minibatch is the sum of those of K chunks of its rows, each evaluated by
/// itself: values and gradients are added in the order of the chunks, so their bits depend on K and on nothing else. A
/// minibatch of fewer rows has a chunk for each. In one process that is the accumulation of gradients: activations take
/// the memory of one chunk, on a GPU too, for one more row of gradients.
///
/// What a chunk is given of the minibatch is its rows (dense, ones, tokens and their carried state, targets, row
/// weights); n and N stay those of the whole. What the model draws (dropout) a chunk draws for itself, with a key of
/// its own, not what the whole would have drawn; what a parameterization draws is drawn outside, once for all chunks.
/// Networks with buffers (batch normalisation) look at all rows at once, and are not taken apart.
///
/// While ranks share it (`shared_by`), each evaluates some rows of weights, or where there are not as many for each
/// rank, some chunks of rows, on its own device; then each has all gradients, values and carried state, to the bit
/// those of one process. With chunks that takes memory for the gradient of every chunk and row there. `adapt` and
/// `predict` every rank does alone.
template <class Scalar>
class ChunkedModel final : public ForwardingModel<Scalar> {
 public:
  /// Shares log-likelihoods and Hessian products of a model with other ranks until it ends: they are collective calls.
  class Sharing {
   public:
    Sharing(ChunkedModel& model, PartExchange& exchange) : model_(model) { model_.exchange_ = &exchange; }
    ~Sharing() { model_.exchange_ = &model_.alone_; }
    Sharing(const Sharing&) = delete;
    Sharing& operator=(const Sharing&) = delete;

   private:
    ChunkedModel& model_;
  };

  /// @param chunks  K
  /// @throws Error(usage) unless K ≥ 1, and for several chunks of a model with buffers
  ChunkedModel(std::unique_ptr<Model<Scalar>> model, std::int64_t chunks);

  /// Whether ranks have anything to share where a step evaluates so many rows of weights: they are several, or in
  /// chunks.
  bool can_be_shared(std::int64_t weight_rows) const { return weight_rows > 1 || chunks_ > 1; }
  /// @param exchange  of this model's device; outlives the sharing
  [[nodiscard]] Sharing shared_by(PartExchange& exchange) { return {*this, exchange}; }

  /// All of them, to be shared; the model inside gets them as it wants them, side by side if it is concurrent.
  std::int64_t rows_per_call() const override { return 0; }

  /// Chunks have values of their own, which are added up as they come; so have rows that other ranks evaluate.
  bool answers_late() const override {
    return chunks_ == 1 && exchange_->ranks().size() == 1 && this->model().answers_late();
  }

  /// @throws distributed::AgreedError on all ranks where the model inside throws on any
  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override;
  void hessian_product(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                       MatrixView<const Scalar> vectors, MatrixView<Scalar> product) override;

 private:
  /// What one call is asked for.
  struct Call {
    const ParticleRows<const Scalar>& weights;
    const Batch<Scalar>& batch;
    const NoiseKey& noise;
    const Evaluation<Scalar>& wanted;
    std::int64_t chunks;  ///< of this minibatch
    /// Of the model inside, for rows of weights from row `first` of the call on.
    std::function<void(std::int64_t first, const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                       const NoiseKey& noise, const Evaluation<Scalar>& wanted)>
        evaluate;

    std::int64_t rows() const { return weights.values.rows; }
  };
  /// Working memory of a row.
  struct Scratch {
    Matrix<Scalar> gradient;
    ChunkState<Scalar> state;
  };

  std::int64_t chunks_of(const Batch<Scalar>& batch) const { return std::min(chunks_, batch.rows); }
  void evaluate(const Call& call);
  void share_rows(const Call& call);
  void share_chunks(const Call& call);
  /// Rows first … end − 1 of the weights.
  void evaluate_rows(const Call& call, std::int64_t first, std::int64_t end);
  void add_chunks(const Call& call, std::int64_t row);
  void evaluate_chunk(const Call& call, std::int64_t row, std::int64_t c, ChunkState<Scalar>& state,
                      const Evaluation<Scalar>& wanted);
  void add_numbers(std::span<const Scalar> term, std::span<Scalar> sum) const;
  void add_value(const Evaluation<Scalar>& term, const Evaluation<Scalar>& sum) const;
  /// What a part of the call leaves.
  PartNumbers<Scalar> left(const Call& call, const Evaluation<Scalar>& found, MatrixView<Scalar> after) const;
  /// The carried state that a chunk leaves: a row for each block; empty where it is not asked for.
  MatrixView<Scalar> state_after(const Call& call, std::int64_t row, std::int64_t c) const;

  std::int64_t chunks_;
  const Driver<Scalar>& driver_;
  PartExchange alone_;
  PartExchange* exchange_ = &alone_;
  Pool<Scratch> scratch_;
  Matrix<Scalar> gradients_;    ///< of all chunks but the first of each row, where ranks share them
  std::vector<double> values_;  ///< the same
};

}  // namespace stein::inference
