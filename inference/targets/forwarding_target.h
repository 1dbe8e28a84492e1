// A target around another one.
#pragma once

#include <stein/inference/target.h>

#include <span>

namespace stein::inference {

/// Passes everything on but `evaluate`, which a derived class makes out of that of the target inside. It is not
/// concurrent, whatever that is.
template <class Scalar>
class ForwardingTarget : public Target<Scalar> {
 public:
  /// @param target  must outlive this
  explicit ForwardingTarget(Target<Scalar>& target) : target_(target) {}

  const Layout& layout() const override { return target_.layout(); }
  bool has_value(const Batch<Scalar>& batch) const override { return target_.has_value(batch); }
  void adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
             MatrixView<Scalar> buffers) override {
    target_.adapt(coordinates, batch, noise, buffers);
  }
  bool adapts() const override { return target_.adapts(); }
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override {
    return target_.free_coordinates(row);
  }
  void save(Snapshot& snapshot) const override { target_.save(snapshot); }
  void restore(const Snapshot& snapshot) override { target_.restore(snapshot); }

 protected:
  Target<Scalar>& target() { return target_; }

 private:
  Target<Scalar>& target_;
};

}  // namespace stein::inference
