// The multilayer perceptron of the product on a device: what ParticleMlp is on the host.
#pragma once

#include <stein/core/pool.h>
#include <stein/inference/model.h>
#include <stein/inference/models/mlp_driver.h>
#include <stein/inference/models/packed_batch.h>
#include <stein/inference/storage/matrix.h>

#include <vector>

namespace stein::inference {

/// Multilayer perceptrons of all particles at once, whose weights and gradients lie on a device. A batch goes there in
/// one copy, and what is computed comes back where it is asked for: outputs and values; a gradient alone waits for
/// nothing.
///
/// Networks whose weights a block of threads has no room for are products of matrices, layer by layer, where the device
/// has them (batched_product.h); the precision of the spec is of these.
///
/// Everything that ParticleMlp takes. A score of the batch's own is made on the host, outputs come back for it, and its
/// slopes go to the device; unless it is one that the device makes (DeviceScore), and its value is not asked for. Sums
/// are added up in a fixed order: the same bits every time on the same kind of device, and those of ParticleMlp but for
/// rounding.
class DeviceMlp final : public Model<float> {
 public:
  /// @param device  other than the host
  /// @throws Error(usage) naming what makes no sense in `spec`, where it has more layers or weights than a launch, for
  ///         another precision than single of a network that is no product of matrices, and where Stein was built
  ///         without the library of the device
  DeviceMlp(const MlpSpec& spec, Device device);
  /// The same. @param products  whether the driver makes products of matrices of networks that are large
  DeviceMlp(const MlpSpec& spec, Device device, bool products);

  const Layout& layout() const override { return layout_; }
  double initial_value(const LayoutEntry& entry) const override;
  std::int64_t rows_per_call() const override { return 0; }
  Device device() const override { return device_; }
  bool answers_late() const override { return true; }
  std::int64_t output_count() const override { return spec_.outputs; }
  /// @throws Error(usage) also where the layers of a few rows do not fit the memory that a block of threads shares
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      const Evaluation<float>& wanted) override;
  void predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
               MatrixView<float> outputs) override;

 private:
  /// Working memory of one call.
  struct Room {
    PackedBatch packed;
    DeviceBlock batch{};
    Matrix<float> outputs{}, shares{}, units{};  ///< on the device, one row each
    Matrix<double> sums{}, row_sums{};
    std::vector<double> sums_here{};
    std::vector<float> outputs_here{}, slopes_here{};
    Matrix<float> slopes{};
  };
  Pool<Room>::Loan borrow_room() {
    return rooms_.borrow([] { return std::make_unique<Room>(); });
  }
  /// Copies the packed batch to the device. @returns the rows there
  MlpRows upload(Room& room) const;
  void copy_out(void* to, const void* from, std::size_t bytes) const;
  /// Slopes of the outputs of all networks, and those of constants, by the batch's own score.
  void score(const Batch<float>& batch, const Evaluation<float>& wanted, Room& room, MlpLaunch& launch) const;
  /// The same on the host, from outputs that come back.
  void score_here(const Batch<float>& batch, const Evaluation<float>& wanted, Room& room, MlpLaunch& launch) const;
  MlpLaunch launch_of(MatrixView<const float> weights, const MlpTiling& tiling, const MlpRows& rows) const;
  /// How a launch divides its work. @param by_layers  not at all: it is products of matrices
  MlpTiling tiling_of(bool by_layers, const Inputs<float>& inputs, std::int64_t rows, bool backward) const;
  /// Whether a pass is products of matrices. @param apart  particles have rows and several networks each
  bool by_layers(bool apart) const { return products_ && !apart; }
  /// Memory for the layers of a launch over so many rows.
  MlpLayers layers_of(Room& room, std::int64_t networks, const MlpRows& rows) const;

  MlpSpec spec_;
  Layout layout_;
  MlpShape shape_;
  Device device_;
  const MlpDriver& driver_;
  std::int64_t shared_bytes_;
  bool products_;  ///< the weights do not fit, and the driver makes products of matrices
  Pool<Room> rooms_;
};

}  // namespace stein::inference
