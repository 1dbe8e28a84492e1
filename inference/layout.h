// Names, shapes and offsets of parameters inside one flat vector.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stein::inference {

/// What a parameter is to a prior and a parameterization.
enum class Role : std::uint8_t {
  weight,           ///< matrix of a layer, [inputs, outputs]
  bias,             ///< vector of a layer, [outputs]
  gain,             ///< of a normalisation, [outputs]; starts at 1, and priors of it are centred there
  log_scale,        ///< log Λ₁ or log Λ₂ of a structured matrix
  reflector_left,   ///< Householder vectors of P, [K, inputs]
  reflector_right,  ///< Householder vectors of Q, [K, outputs]
  log_precision,    ///< logarithm of a precision that is itself sampled
  log_deviation,    ///< ρ of a mean-field Gaussian, σ = softplus(ρ)
  rate,             ///< η of posterior sharpening: how far a weight follows its gradient
};

/// One named parameter: `shape` of one or two dimensions or more, rows of the last dimension `row_stride` apart (≥ its
/// length; more where rows are padded for vector loads; padding holds zeros and is no coordinate).
struct LayoutEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  Role role = Role::weight;
  std::int64_t layer = 0;
  std::int64_t offset = 0;
  std::int64_t row_stride = 0;
  std::int64_t fan_in = 0;  ///< numbers that one output of a weight adds up; 0: rows()
  /// How often it is multiplied with something for one row of inputs: by a kernel once for every place of its map, by
  /// an embedding never.
  std::int64_t uses = 1;

  /// Where it starts, and where priors of it are centred.
  double centre() const { return role == Role::gain ? 1 : 0; }
  /// Whether it is one of the network's own parameters: what a prior of weights and biases speaks of.
  bool is_weight() const { return role == Role::weight || role == Role::bias || role == Role::gain; }
  std::int64_t columns() const { return shape.back(); }
  std::int64_t rows() const;  ///< product of all dimensions but the last
  std::int64_t size() const { return rows() * columns(); }
  std::int64_t extent() const { return rows() * row_stride; }  ///< numbers taken in the flat vector, padding included
};

/// Parameters one after the other in a flat vector, and beside it a section of buffers that are state but not sampled
/// (batch-norm statistics), one row a particle.
class Layout {
 public:
  /// Appends a parameter; `row_stride` 0 means no padding. Throws Error(usage) for a name that is taken or an empty
  /// shape.
  const LayoutEntry& add(std::string name, std::vector<std::int64_t> shape, Role role, std::int64_t layer = 0,
                         std::int64_t row_stride = 0, std::int64_t fan_in = 0, std::int64_t uses = 1);
  /// Appends a buffer that is not sampled.
  const LayoutEntry& add_buffer(std::string name, std::vector<std::int64_t> shape);

  const std::vector<LayoutEntry>& entries() const { return entries_; }
  const std::vector<LayoutEntry>& buffers() const { return buffers_; }
  /// Length of the flat vector, padding included.
  std::int64_t size() const { return size_; }
  std::int64_t buffer_size() const { return buffer_size_; }
  /// Number of coordinates: `size()` without padding.
  std::int64_t coordinate_count() const;
  bool padded() const { return coordinate_count() != size_; }

  /// The entry called `name`, or null.
  const LayoutEntry* find(std::string_view name) const;
  /// The entry called `name`. Throws Error(usage) naming the nearest one.
  const LayoutEntry& at(std::string_view name) const;
  /// Where position `index` of the flat vector lies, for messages: "layer1.weight[3, 17]".
  std::string describe_position(std::int64_t index) const;
  /// All parameters with their shapes, one a line: "layer0.weight [117, 50]".
  std::string description() const;
  /// Throws Error(data) naming the first line in which a saved description differs from this layout's.
  void check_description(std::string_view saved) const;

 private:
  std::vector<LayoutEntry> entries_;
  std::vector<LayoutEntry> buffers_;
  std::int64_t size_ = 0;
  std::int64_t buffer_size_ = 0;
};

}  // namespace stein::inference
