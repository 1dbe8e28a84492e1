#include <stein/core/error.h>
#include <stein/core/safetensors.h>
#include <stein/core/version.h>
#include <stein/inference/entry_view.h>
#include <stein/training/network_export.h>
#include <stein/training/starting_weights.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::training {
namespace {

using Json = nlohmann::ordered_json;

/// A matrix, of a kernel [outputs, inputs, …] that of its outputs by all else, as compressed rows.
void put_compressed_rows(const inference::LayoutEntry& entry, std::span<const float> numbers, Snapshot& to) {
  const std::int64_t rows = entry.shape.front(), columns = std::ssize(numbers) / rows;
  std::vector<std::int32_t> begins{0}, at;
  std::vector<float> values;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c)
      if (const float number = numbers[static_cast<std::size_t>(r * columns + c)]; number != 0)
        at.push_back(static_cast<std::int32_t>(c)), values.push_back(number);
    begins.push_back(static_cast<std::int32_t>(values.size()));
  }
  to.put(entry.name + ".crow_indices", begins);
  to.put(entry.name + ".col_indices", at);
  to.put(entry.name + ".values", values);
  to.put(entry.name + ".shape", entry.shape);
}

}  // namespace

void NetworkExport::describe(OptionTable& table) {
  table("to", file_, "the file: a path that ends in .safetensors");
  table("seed", seed_, "which of the run's seeds; -1: the first", at_least(-1));
  table("by", by_, "end: the weights where training ended, best: those with the best validation score",
        {{"end", By::end}, {"best", By::best}});
  table("format", format_,
        "dense: all numbers; csr: matrices that were made sparse as compressed rows, as torch.sparse_csr_tensor takes "
        "them: NAME.crow_indices, NAME.col_indices, NAME.values, NAME.shape",
        {{"dense", Format::dense}, {"csr", Format::csr}});
}

Json NetworkExport::perform_saved(const NetworkExperiment& experiment, const runs::SavedRun& saved, const std::string&,
                                  const runs::Console&) {
  check_safetensors_path(file_, "--to");
  const std::uint64_t seed = seed_ < 0 ? experiment.seeds().first : static_cast<std::uint64_t>(seed_);
  TrainedNetwork network = experiment.trained_network(saved, seed, "cpu");
  if (by_ == By::best) network.use_best();
  const std::vector<std::string> sparse = network.weights().sparse_layers();
  STEIN_CHECK(format_ == Format::dense || !sparse.empty(),
              "--format csr is for networks whose weights were made sparse, by `stein compress` or a method with a "
              "spike-and-slab prior; this one's were not");
  const StartingWeights weights = starting_weights(network.weights());
  Snapshot file;
  std::int64_t written = 0;
  for (const inference::LayoutEntry& entry : weights.layout.entries()) {
    const std::vector<float> numbers = inference::entry_numbers(weights.weights.row(0), entry);
    const bool is_sparse = std::ranges::find(sparse, entry.name) != sparse.end();
    if (format_ == Format::csr && is_sparse)
      put_compressed_rows(entry, numbers, file);
    else
      file.put(entry.name, std::span<const float>(numbers), entry.shape);
    written += std::ssize(numbers);
  }
  for (const inference::LayoutEntry& entry : weights.layout.buffers())
    file.put(entry.name, std::span<const float>(inference::entry_numbers(weights.buffers.row(0), entry)), entry.shape);
  SafetensorsMetadata facts{{"format", format_ == Format::csr ? "csr" : "dense"},
                            {"network", saved.manifest["protocol"].value("model", "")},
                            {"run", experiment.name()},
                            {"seed", fmt::format("{}", seed)},
                            {"stein", std::string(version())}};
  for (const auto& [name, array] : network.meaning().arrays()) file.put_array("meaning/" + name, array);
  for (const auto& [name, text] : network.meaning().texts()) facts.emplace("meaning/" + name, text);
  write_safetensors(file_, file, facts);
  return {{"file", file_},
          {"seed", seed},
          {"parameters", written},
          {"bytes", static_cast<std::int64_t>(std::filesystem::file_size(file_))}};
}

std::string NetworkExport::readable(const Json& result) const {
  return fmt::format("{}: {} numbers of seed {}, {:.1f} MB\n", result["file"].get<std::string>(),
                     result["parameters"].get<std::int64_t>(), result["seed"].get<std::uint64_t>(),
                     result["bytes"].get<double>() / 1e6);
}

}  // namespace stein::training
