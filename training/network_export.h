// The weights of a trained network as a file that other programs read: `stein export`.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/training/network_experiment.h>

#include <cstdint>
#include <string>

namespace stein::training {

/// Writes one set of weights to a safetensors file: every parameter under its name, with its shape, and what a
/// normalisation has beside them. Matrices that are sparse can be written as compressed rows instead, as
/// `torch.sparse_csr_tensor` takes them: NAME.crow_indices, NAME.col_indices, NAME.values, and NAME.shape.
///
/// Of several particles the first one's, of a variational method the mean.
class NetworkExport final : public runs::SavedRunAction<NetworkExperiment> {
 public:
  void describe(OptionTable& table) override;
  std::string readable(const nlohmann::ordered_json& result) const override;

 private:
  enum class By { end, best };
  enum class Format { dense, csr };

  nlohmann::ordered_json perform_saved(const NetworkExperiment& experiment, const runs::SavedRun& saved,
                                       const std::string& data, const runs::Console& console) override;

  std::string file_;
  std::int64_t seed_ = -1;
  By by_ = By::end;
  Format format_ = Format::dense;
};

}  // namespace stein::training
